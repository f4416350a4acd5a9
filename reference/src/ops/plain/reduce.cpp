// sum, mean, max over one dimension, each in ascending order of the reduced index. Sums of floats are kept in double
// and rounded once, sums of integers wrap in 64 bits; a NaN makes a maximum NaN.
#include <algorithm>
#include <type_traits>

#include "ops/plain/kernels.hpp"
#include "ops/strided.hpp"

namespace labrig::kernels {
namespace {

// The accumulator for elements of type T.
template <class T>
using Sum = std::conditional_t<is_float_element<T>, double, std::int64_t>;

template <class V>
V added(V sum, V value) {
  if constexpr (std::is_same_v<V, std::int64_t>) {
    return wrapping_add(sum, value);
  } else {
    return sum + value;
  }
}

template <class V>
V larger(V best, V value) {
  return value > best || value != value ? value : best;
}

// Folds `count` elements that lie `stride` apart.
template <class T, class V, class Fold>
V fold(const T* from, std::int64_t stride, std::int64_t count, V start, Fold step) {
  for (std::int64_t i = 0; i < count; ++i) start = step(start, static_cast<V>(load(from[i * stride])));
  return start;
}

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

// Over the shape of the output: out and the input without its reduced dimension are walked together.
template <class Out, class T>
void reduce(const KernelCall& call) {
  const Operand& out = call.operands[0];
  const int dim = static_cast<int>(call.scalars[0]);
  const std::int64_t count = call.operands[1].sizes[dim], stride = call.operands[1].strides[dim];
  Operand lines = call.operands[1];
  lines.sizes[dim] = 1;
  Walk<2>({&out, &lines}).rows([&](const auto& first, const auto& strides, std::int64_t outputs) {
    auto* to = reinterpret_cast<Out*>(first[0]);
    const auto* from = reinterpret_cast<const T*>(first[1]);
    for (std::int64_t i = 0; i < outputs; ++i) {
      const T* line = from + i * strides[1];
      Out& result = to[i * strides[0]];
      if (call.kernel == Kernel::max) {
        const auto start = load(*line);
        const auto best = fold(line, stride, count, start, larger<std::remove_const_t<decltype(start)>>);
        result = rounded<Out>(best);
      } else {
        Sum<T> total = fold(line, stride, count, Sum<T>{0}, added<Sum<T>>);
        if (call.kernel == Kernel::mean) {
          result = rounded<Out>(static_cast<double>(total) / static_cast<double>(count));
        } else {
          result = rounded<Out>(total);
        }
      }
    }
  });
}

}  // namespace

void reduction(const KernelCall& call) {
  dispatch(call.operands[0].dtype, [&]<class Out>() {
    dispatch(call.operands[1].dtype, [&]<class T>() {
      // The schema lets only outputs through that can hold the input's kind.
      constexpr bool fits = is_float_element<Out> || !is_float_element<T>;
      if constexpr (fits) reduce<Out, T>(call);
    });
  });
}

}  // namespace labrig::kernels
