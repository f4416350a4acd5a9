// sum, mean, max, norm, argmax, each in row-major order of the reduced dimensions. Sums of floats are kept in double
// and rounded once, sums of integers wrap in 64 bits; a NaN makes a maximum NaN, and is the largest where its index is
// asked for.
#include "ops/reduced.hpp"

#include <cmath>
#include <type_traits>

#include "ops/plain/kernels.hpp"

namespace labrig::kernels {
namespace {

// Rounds an accumulator to the output, whose kind is at least that of the input.
template <class Out, class V>
Out rounded(V value) {
  if constexpr (std::is_same_v<Out, Bool8>) {
    return {static_cast<std::uint8_t>(value != 0)};
  } else if constexpr (is_float_element<Out>) {
    return store<Out>(static_cast<Arithmetic<Out>>(value));
  } else {
    return static_cast<Out>(static_cast<std::int64_t>(value));
  }
}

// What one output is folded from.
template <class T>
class Line {
 public:
  Line(const Walk<1>& walk, std::ptrdiff_t offset_bytes) : walk_(walk), offset_bytes_(offset_bytes) {}

  // visit(value) for each element.
  template <class Visit>
  void each(Visit visit) const {
    walk_.rows([&](const auto& first, const auto& strides, std::int64_t count) {
      const auto* from = reinterpret_cast<const T*>(first[0] + offset_bytes_);
      for (std::int64_t i = 0; i < count; ++i) visit(load(from[i * strides[0]]));
    });
  }

 private:
  const Walk<1>& walk_;
  std::ptrdiff_t offset_bytes_;
};

template <class T>
Accumulator<T> total(const Line<T>& line) {
  Accumulator<T> sum = 0;
  line.each([&](Accumulator<T> value) {
    if constexpr (is_float_element<T>)
      sum += value;
    else
      sum = wrapping_add(sum, value);
  });
  return sum;
}

template <class T>
double euclidean_norm(const Line<T>& line) {
  double sum = 0;
  line.each([&](auto value) { sum += static_cast<double>(value) * static_cast<double>(value); });
  return std::sqrt(sum);
}

template <class V>
struct Maximum {
  V value{};
  std::int64_t index = 0;
};

template <class T>
Maximum<Arithmetic<T>> maximum(const Line<T>& line) {
  Maximum<Arithmetic<T>> best;
  std::int64_t index = 0;
  line.each([&](Arithmetic<T> value) {
    const bool is_first_nan = value != value && best.value == best.value;
    if (index == 0 || value > best.value || is_first_nan) best = {value, index};
    ++index;
  });
  return best;
}

template <class Out, class T>
Out reduced(Kernel kernel, const Line<T>& line, std::int64_t count) {
  switch (kernel) {
    case Kernel::max:
      return rounded<Out>(maximum(line).value);
    case Kernel::argmax:
      return rounded<Out>(maximum(line).index);
    case Kernel::mean:
      return rounded<Out>(static_cast<double>(total(line)) / static_cast<double>(count));
    case Kernel::norm:
      return rounded<Out>(euclidean_norm(line));
    default:
      return rounded<Out>(total(line));
  }
}

// The first elements of the lines are walked together with the output.
template <class Out, class T>
void reduce(const KernelCall& call) {
  const Reduction parts(call.operands[0], call.operands[1]);
  const Walk<1> walk({&parts.line});
  const auto* begin = static_cast<const std::byte*>(parts.line.data);
  const std::int64_t count = parts.line.sizes.product();
  Walk<2>({&call.operands[0], &parts.firsts}).rows([&](const auto& first, const auto& strides, std::int64_t outputs) {
    auto* to = reinterpret_cast<Out*>(first[0]);
    for (std::int64_t i = 0; i < outputs; ++i) {
      const std::int64_t offset_bytes = first[1] - begin + i * strides[1] * static_cast<std::int64_t>(sizeof(T));
      to[i * strides[0]] = reduced<Out>(call.kernel, Line<T>(walk, offset_bytes), count);
    }
  });
}

}  // namespace

void reduction(const KernelCall& call) {
  dispatch(call.operands[0].dtype, [&]<class Out>() {
    dispatch(call.operands[1].dtype, [&]<class T>() {
      // An output that cannot hold the input's kind is let through only for an index, which is i64.
      constexpr bool fits = is_float_element<Out> || !is_float_element<T> || std::is_same_v<Out, std::int64_t>;
      if constexpr (fits) reduce<Out, T>(call);
    });
  });
}

}  // namespace labrig::kernels
