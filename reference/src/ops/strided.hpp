// What the kernels of every backend that runs on the host share (`cpu`, and `sim`, whose card is a program too):
// element types, conversions, and the walk over strided, broadcast operands. Read next: elementwise_kernels.hpp (the
// kernels that are the same on both), kernel.hpp (how a kernel is called).
//
//   dispatch(dtype, [&]<class T>() { ... });          runs the lambda with the element type of `dtype`
//   Walk<3> walk({&out, &a, &b});                     lines a and b up with out, merges dimensions where it can
//   walk.rows([&](auto first, auto strides, n) {...})  calls once for each innermost row
#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <utility>

#include "labrig/dtype.hpp"
#include "ops/half.hpp"
#include "ops/kernel.hpp"

namespace labrig::kernels {

// --- element types -------------------------------------------------------------------------------------------------

// A bool as it lies in memory. Any byte but 0 reads as true, also one that C++'s bool does not allow.
struct Bool8 {
  std::uint8_t byte = 0;
};

// Calls `f.operator()<T>()` with the type that elements of `dtype` have in memory.
template <class F>
decltype(auto) dispatch(Dtype dtype, F&& f) {
  switch (dtype) {
    case Dtype::f16:
      return f.template operator()<float16>();
    case Dtype::bf16:
      return f.template operator()<bfloat16>();
    case Dtype::f64:
      return f.template operator()<double>();
    case Dtype::i64:
      return f.template operator()<std::int64_t>();
    case Dtype::i32:
      return f.template operator()<std::int32_t>();
    case Dtype::u8:
      return f.template operator()<std::uint8_t>();
    case Dtype::boolean:
      return f.template operator()<Bool8>();
    case Dtype::f32:
      break;
  }
  return f.template operator()<float>();
}

// The same for kernels whose schema lets only floating point types through.
template <class F>
decltype(auto) dispatch_float(Dtype dtype, F&& f) {
  switch (dtype) {
    case Dtype::f16:
      return f.template operator()<float16>();
    case Dtype::bf16:
      return f.template operator()<bfloat16>();
    case Dtype::f64:
      return f.template operator()<double>();
    default:
      return f.template operator()<float>();
  }
}

// The type in which arithmetic on elements of type T is done: 16-bit floats in float, integers and bool in 64 bits.
template <class T>
using Arithmetic = std::conditional_t<
    std::is_same_v<T, double>, double,
    std::conditional_t<std::is_same_v<T, float> || std::is_same_v<T, float16> || std::is_same_v<T, bfloat16>, float,
                       std::int64_t>>;

template <class T>
inline constexpr bool is_float_element = !std::is_same_v<Arithmetic<T>, std::int64_t>;

template <class T>
Arithmetic<T> load(T element) {
  if constexpr (std::is_same_v<T, float16>)
    return from_f16_bits(element.bits);
  else if constexpr (std::is_same_v<T, bfloat16>)
    return from_bf16_bits(element.bits);
  else if constexpr (std::is_same_v<T, Bool8>)
    return element.byte != 0;
  else
    return element;
}

// Rounds to the element type; integers keep their low bits, bool becomes "not zero".
template <class T>
T store(Arithmetic<T> value) {
  if constexpr (std::is_same_v<T, float16> || std::is_same_v<T, bfloat16>) {
    T element;
    if constexpr (std::is_same_v<T, float16>)
      element.bits = to_f16_bits(value);
    else
      element.bits = to_bf16_bits(value);
    return element;
  } else if constexpr (std::is_same_v<T, Bool8>) {
    return Bool8{static_cast<std::uint8_t>(value != 0)};
  } else {
    return static_cast<T>(value);
  }
}

// Towards zero; what does not fit gives the nearest value that does, NaN gives 0 (as on a CUDA card).
template <class Integer, class Float>
Integer truncate(Float value) {
  if (std::isnan(value)) return 0;
  // 2^31 or 2^63: exact in either type, while the largest integer is not.
  constexpr auto bound = static_cast<Float>(std::uint64_t{1} << (8 * sizeof(Integer) - 1));
  if (value >= bound) return std::numeric_limits<Integer>::max();
  if (value < -bound) return std::numeric_limits<Integer>::min();
  return static_cast<Integer>(value);
}

template <class To, class From>
To convert(From element) {
  if constexpr (std::is_same_v<To, From>) {
    return element;
  } else {
    const auto value = load(element);
    if constexpr (std::is_same_v<To, Bool8>)
      return Bool8{static_cast<std::uint8_t>(value != 0)};
    else if constexpr (is_float_element<To>)
      return store<To>(static_cast<Arithmetic<To>>(value));
    else if constexpr (!is_float_element<From>)
      return static_cast<To>(value);
    else if constexpr (std::is_same_v<To, std::uint8_t>)
      return static_cast<To>(truncate<std::int64_t>(value));
    else
      return truncate<To>(value);
  }
}

// A kernel's scalar in the arithmetic type of T.
template <class T>
Arithmetic<T> scalar_as(double scalar) {
  if constexpr (is_float_element<T>)
    return static_cast<Arithmetic<T>>(scalar);
  else if constexpr (std::is_same_v<T, Bool8>)
    return scalar != 0;
  else
    return truncate<std::int64_t>(scalar);
}

// Signed arithmetic that wraps.
inline std::int64_t wrapping_add(std::int64_t a, std::int64_t b) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b));
}
inline std::int64_t wrapping_sub(std::int64_t a, std::int64_t b) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) - static_cast<std::uint64_t>(b));
}
inline std::int64_t wrapping_mul(std::int64_t a, std::int64_t b) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) * static_cast<std::uint64_t>(b));
}

// --- rows ----------------------------------------------------------------------------------------------------------

// The strides with which `operand` is read in the shape `sizes`: lined up from the right, 0 where it is broadcast.
inline Dims broadcast_strides(const Operand& operand, const Dims& sizes) {
  Dims strides = sizes;
  const int missing = sizes.count() - operand.sizes.count();
  for (int d = 0; d < sizes.count(); ++d) {
    const bool repeated = d < missing || operand.sizes[d - missing] != sizes[d];
    strides[d] = repeated ? 0 : operand.strides[d - missing];
  }
  return strides;
}

// N operands walked together over the shape of the first. Rows come in row-major order of that shape.
template <std::size_t N>
class Walk {
 public:
  using Pointers = std::array<std::byte*, N>;
  using Strides = std::array<std::int64_t, N>;  // in elements

  explicit Walk(const std::array<const Operand*, N>& operands) {
    const Dims& sizes = operands[0]->sizes;
    std::array<Dims, N> strides;
    for (std::size_t i = 0; i < N; ++i) {
      first_[i] = static_cast<std::byte*>(operands[i]->data);
      bytes_[i] = static_cast<std::int64_t>(element_bytes(operands[i]->dtype));
      strides[i] = broadcast_strides(*operands[i], sizes);
    }
    for (int d = 0; d < sizes.count(); ++d) add_dimension(sizes[d], d, strides);
  }

  // row(Pointers first, Strides strides, std::int64_t count), never with count 0.
  template <class Row>
  void rows(Row&& row) const {
    for (int d = 0; d < dims_; ++d) {
      if (sizes_[d] == 0) return;
    }
    const int outer = dims_ == 0 ? 0 : dims_ - 1;
    const std::int64_t count = dims_ == 0 ? 1 : sizes_[outer];
    Strides inner{};
    for (std::size_t i = 0; i < N; ++i) inner[i] = dims_ == 0 ? 0 : strides_[i][outer];
    Pointers at = first_;
    std::int64_t index[kMaxDims] = {};
    while (true) {
      row(static_cast<const Pointers&>(at), static_cast<const Strides&>(inner), count);
      int d = outer - 1;
      for (; d >= 0; --d) {
        const std::int64_t steps = ++index[d] < sizes_[d] ? 1 : 1 - index[d];
        for (std::size_t i = 0; i < N; ++i) at[i] += steps * strides_[i][d] * bytes_[i];
        if (steps == 1) break;
        index[d] = 0;
      }
      if (d < 0) return;
    }
  }

 private:
  // Leaves out dimensions of size 1 and merges a dimension with the one before it where every operand goes on in the
  // same step.
  void add_dimension(std::int64_t size, int d, const std::array<Dims, N>& strides) {
    if (size == 1) return;
    bool merges = dims_ > 0;
    for (std::size_t i = 0; merges && i < N; ++i) merges = strides_[i][dims_ - 1] == strides[i][d] * size;
    const int at = merges ? dims_ - 1 : dims_++;
    sizes_[at] = merges ? sizes_[at] * size : size;
    for (std::size_t i = 0; i < N; ++i) strides_[i][at] = strides[i][d];
  }

  Pointers first_{};
  Strides bytes_{};
  int dims_ = 0;
  std::int64_t sizes_[kMaxDims] = {};
  std::int64_t strides_[N][kMaxDims] = {};
};

}  // namespace labrig::kernels
