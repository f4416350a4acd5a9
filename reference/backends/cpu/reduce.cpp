// sum, mean, max on the host. Sums of floats are kept in double, which makes the host the oracle of the other devices;
// sums of integers wrap in 64 bits; a NaN makes a maximum NaN.
//
// A piece of up to 256 outputs is reduced at a time, row by row, so that memory is read in the order in which it lies
// also when the reduced dimension is an outer one.
#include <algorithm>
#include <limits>
#include <type_traits>

#include "kernels.hpp"
#include "ops/strided.hpp"

namespace labrig::cpu {
namespace {

using namespace kernels;

constexpr std::int64_t kPiece = 256;
constexpr std::int64_t kLanes = 8;  // partial sums of a line, so that an addition need not wait for the one before

template <class T>
using Sum = std::conditional_t<is_float_element<T>, double, std::int64_t>;

struct Add {
  template <class V>
  V operator()(V sum, V value) const {
    if constexpr (std::is_same_v<V, std::int64_t>)
      return wrapping_add(sum, value);
    else
      return sum + value;
  }
};
struct Larger {
  template <class V>
  static constexpr V kStart =
      std::numeric_limits<V>::has_infinity ? -std::numeric_limits<V>::infinity() : std::numeric_limits<V>::min();
  template <class V>
  V operator()(V best, V value) const {
    return value > best || value != value ? value : best;
  }
};

// What the reduction runs over: `count` elements, `stride` apart.
struct Line {
  std::int64_t count, stride;
};

// One output: a line of neighbours, folded in lanes.
template <class V, class T, class Fold>
V fold_line(const T* from, Line line, V start, Fold fold) {
  V lanes[kLanes];
  std::fill(lanes, lanes + kLanes, start);
  std::int64_t k = 0;
  for (; k + kLanes <= line.count; k += kLanes) {
    for (std::int64_t lane = 0; lane < kLanes; ++lane) {
      lanes[lane] = fold(lanes[lane], static_cast<V>(load(from[(k + lane) * line.stride])));
    }
  }
  for (; k < line.count; ++k) lanes[0] = fold(lanes[0], static_cast<V>(load(from[k * line.stride])));
  for (std::int64_t lane = 1; lane < kLanes; ++lane) lanes[0] = fold(lanes[0], lanes[lane]);
  return lanes[0];
}

// Many outputs, `step` apart in the input: all lines advance together.
template <class V, class T, class Fold>
void fold_lines(V* results, std::int64_t outputs, const T* from, std::int64_t step, Line line, V start, Fold fold) {
  std::fill(results, results + outputs, start);
  for (std::int64_t k = 0; k < line.count; ++k) {
    const T* row = from + k * line.stride;
    for (std::int64_t i = 0; i < outputs; ++i) results[i] = fold(results[i], static_cast<V>(load(row[i * step])));
  }
}

// Folds everything and hands each piece of results to `put(first output, results, how many)`.
template <class V, class T, class Fold, class Put>
void fold_row(const T* from, std::int64_t outputs, std::int64_t step, Line line, V start, Fold fold, Put put) {
  V results[kPiece];
  for (std::int64_t i = 0; i < outputs; i += kPiece) {
    const std::int64_t n = std::min(kPiece, outputs - i);
    const T* first = from + i * step;
    if (n > 1 && step < line.stride) {
      fold_lines(results, n, first, step, line, start, fold);
    } else {
      for (std::int64_t j = 0; j < n; ++j) results[j] = fold_line(first + j * step, line, start, fold);
    }
    put(i, results, n);
  }
}

template <class Out, class T>
void reduce(const KernelCall& call) {
  const Operand& out = call.operands[0];
  const auto dim = static_cast<int>(call.scalars[0]);
  const Line line{call.operands[1].sizes[dim], call.operands[1].strides[dim]};
  Operand firsts = call.operands[1];  // the first element of each line
  firsts.sizes[dim] = 1;
  Walk<2>({&out, &firsts}).rows([&](const auto& first, const auto& strides, std::int64_t outputs) {
    auto* to = reinterpret_cast<Out*>(first[0]);
    const auto* from = reinterpret_cast<const T*>(first[1]);
    if (call.kernel == Kernel::max) {
      fold_row(from, outputs, strides[1], line, Larger::kStart<Arithmetic<T>>, Larger{},
               [&](std::int64_t i, const auto* results, std::int64_t n) {
                 for (std::int64_t j = 0; j < n; ++j)
                   to[(i + j) * strides[0]] = store<Out>(static_cast<Arithmetic<Out>>(results[j]));
               });
      return;
    }
    const double divisor = call.kernel == Kernel::mean ? static_cast<double>(line.count) : 1;
    fold_row(from, outputs, strides[1], line, Sum<T>{0}, Add{},
             [&](std::int64_t i, const auto* results, std::int64_t n) {
               for (std::int64_t j = 0; j < n; ++j) {
                 if constexpr (is_float_element<T>)
                   to[(i + j) * strides[0]] = convert<Out>(results[j] / divisor);
                 else
                   to[(i + j) * strides[0]] = convert<Out>(results[j]);
               }
             });
  });
}

}  // namespace

void reduction(const KernelCall& call) {
  const Dtype out = call.operands[0].dtype;
  dispatch(call.operands[1].dtype, [&]<class T>() {
    if (out == call.operands[1].dtype) return reduce<T, T>(call);
    dispatch(out, [&]<class Out>() { reduce<Out, T>(call); });
  });
}

}  // namespace labrig::cpu
