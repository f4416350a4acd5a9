// sum, mean, max, norm on the host. Sums of floats are kept in double, which makes the host the oracle of the other
// devices; sums of integers wrap in 64 bits; a NaN makes a maximum NaN.
//
// A piece of up to 256 outputs is reduced at a time, row by row, so that memory is read in the order in which it lies
// also when the reduced dimension is an outer one.
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>
#include <type_traits>

#include "kernels.hpp"
#include "ops/plain/kernels.hpp"
#include "ops/reduced.hpp"

namespace labrig::cpu {
namespace {

using namespace kernels;

constexpr std::int64_t kPiece = 256;
constexpr std::int64_t kLanes = 8;  // partial results of a row, so that a step need not wait for the one before

// How values are folded into a result, and results into one.
struct Add {
  template <class V>
  static V merge(V sum, V value) {
    if constexpr (std::is_same_v<V, std::int64_t>)
      return wrapping_add(sum, value);
    else
      return sum + value;
  }
  template <class V>
  static V fold(V sum, V value) {
    return merge(sum, value);
  }
};
struct AddSquare : Add {
  static double fold(double sum, double value) { return sum + value * value; }
};
struct Larger {
  template <class V>
  static constexpr V kStart =
      std::numeric_limits<V>::has_infinity ? -std::numeric_limits<V>::infinity() : std::numeric_limits<V>::min();
  template <class V>
  static V merge(V best, V value) {
    return value > best || value != value ? value : best;
  }
  template <class V>
  static V fold(V best, V value) {
    return merge(best, value);
  }
};

// A row of what is reduced: `count` elements, `stride` apart.
struct Row {
  std::int64_t count, stride;
};

// One output: a row is folded in lanes, then added to the result so far.
template <class Fold, class V, class T>
V fold_row(V so_far, const T* from, Row row, V start) {
  V lanes[kLanes];
  std::fill(lanes, lanes + kLanes, start);
  std::int64_t k = 0;
  for (; k + kLanes <= row.count; k += kLanes) {
    for (std::int64_t lane = 0; lane < kLanes; ++lane) {
      lanes[lane] = Fold::fold(lanes[lane], static_cast<V>(load(from[(k + lane) * row.stride])));
    }
  }
  for (; k < row.count; ++k) lanes[0] = Fold::fold(lanes[0], static_cast<V>(load(from[k * row.stride])));
  for (const V lane : lanes) so_far = Fold::merge(so_far, lane);
  return so_far;
}

// Many outputs, `step` apart in the input: all rows advance together.
template <class Fold, class V, class T>
void fold_rows(V* results, std::int64_t outputs, const T* from, std::int64_t step, Row row) {
  for (std::int64_t k = 0; k < row.count; ++k) {
    const T* at = from + k * row.stride;
    for (std::int64_t i = 0; i < outputs; ++i) {
      results[i] = Fold::fold(results[i], static_cast<V>(load(at[i * step])));
    }
  }
}

// The line with its dimensions in the order in which they lie in memory; the order does not matter to the result.
Operand in_memory_order(const Operand& line) {
  std::array<int, kMaxDims> order{};
  const auto end = order.begin() + line.sizes.count();
  std::iota(order.begin(), end, 0);
  std::stable_sort(order.begin(), end, [&](int a, int b) { return line.strides[a] > line.strides[b]; });
  Operand sorted = line;
  for (int d = 0; d < line.sizes.count(); ++d) {
    sorted.sizes[d] = line.sizes[order[static_cast<std::size_t>(d)]];
    sorted.strides[d] = line.strides[order[static_cast<std::size_t>(d)]];
  }
  return sorted;
}

// Folds everything and stores `finish(result)` in each output.
template <class Fold, class Out, class T, class V, class Finish>
void fold_all(const KernelCall& call, V start, Finish finish) {
  const kernels::Reduction parts(call.operands[0], call.operands[1]);
  const Operand sorted = in_memory_order(parts.line);
  const Walk<1> line({&sorted});
  const auto* begin = static_cast<const T*>(sorted.data);
  Walk<2>({&call.operands[0], &parts.firsts}).rows([&](const auto& first, const auto& strides, std::int64_t outputs) {
    auto* to = reinterpret_cast<Out*>(first[0]);
    V results[kPiece];
    for (std::int64_t i = 0; i < outputs; i += kPiece) {
      const std::int64_t n = std::min(kPiece, outputs - i), step = strides[1];
      const T* piece = reinterpret_cast<const T*>(first[1]) + i * step;
      std::fill(results, results + n, start);
      line.rows([&](const auto& at, const auto& row_strides, std::int64_t count) {
        const T* from = piece + (reinterpret_cast<const T*>(at[0]) - begin);
        const Row row{count, row_strides[0]};
        if (n > 1 && step < row.stride) return fold_rows<Fold>(results, n, from, step, row);
        for (std::int64_t j = 0; j < n; ++j) results[j] = fold_row<Fold>(results[j], from + j * step, row, start);
      });
      for (std::int64_t j = 0; j < n; ++j) to[(i + j) * strides[0]] = convert<Out>(finish(results[j]));
    }
  });
}

template <class Out, class T>
void reduce(const KernelCall& call) {
  using Sum = Accumulator<T>;
  const auto itself = [](auto value) { return value; };
  if (call.kernel == Kernel::max) return fold_all<Larger, Out, T>(call, Larger::kStart<Arithmetic<T>>, itself);
  if (call.kernel == Kernel::sum) return fold_all<Add, Out, T>(call, Sum{0}, itself);
  if constexpr (is_float_element<T>) {
    if (call.kernel == Kernel::norm) {
      return fold_all<AddSquare, Out, T>(call, Sum{0}, [](double sum) { return std::sqrt(sum); });
    }
    const auto count = static_cast<double>(kernels::Reduction(call.operands[0], call.operands[1]).line.sizes.product());
    fold_all<Add, Out, T>(call, Sum{0}, [count](double sum) { return sum / count; });
  }
}

}  // namespace

// The pairs of types that operators make; any other goes the plain way.
void reduction(const KernelCall& call) {
  const Dtype in = call.operands[1].dtype, out = call.operands[0].dtype;
  dispatch(in, [&]<class T>() {
    if (out == in) return reduce<T, T>(call);
    if constexpr (!is_float_element<T>) {
      if (out == Dtype::i64) return reduce<std::int64_t, T>(call);
    }
    kernels::reduction(call);
  });
}

}  // namespace labrig::cpu
