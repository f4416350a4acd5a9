// How a reduction sees its input: by the first element of each line, which line up with the outputs, and by the one
// line that is the same, at another address, for each of them.
//
//   a [2, 3] reduced to [2, 1]      firsts [2, 1]: a0 b0      line [1, 3]: x0 x1 x2
//       a0 a1 a2
//       b0 b1 b2
#pragma once

#include <type_traits>

#include "ops/strided.hpp"

namespace labrig::kernels {

// In which elements of type T are summed.
template <class T>
using Accumulator = std::conditional_t<is_float_element<T>, double, std::int64_t>;

struct Reduction {
  // Reduced is every dimension in which `out` has size 1.
  Reduction(const Operand& out, const Operand& a) : firsts(a), line(a) {
    for (int d = 0; d < a.sizes.count(); ++d) (out.sizes[d] == 1 ? firsts : line).sizes[d] = 1;
  }

  Operand firsts;
  Operand line;  // of the first output
};

}  // namespace labrig::kernels
