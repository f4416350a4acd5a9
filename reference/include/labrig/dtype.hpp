// The element types of a tensor, and the two 16-bit floating point formats that C++20 lacks.
#pragma once

#include <cstddef>
#include <cstdint>

#include "labrig/export.hpp"

namespace labrig {

enum class Dtype : std::uint8_t { f32, f16, bf16, f64, i64, i32, u8, boolean };
inline constexpr int kDtypeCount = 8;

inline constexpr Dtype kF32 = Dtype::f32, kF16 = Dtype::f16, kBF16 = Dtype::bf16, kF64 = Dtype::f64;
inline constexpr Dtype kI64 = Dtype::i64, kI32 = Dtype::i32, kU8 = Dtype::u8, kBool = Dtype::boolean;

constexpr std::size_t element_bytes(Dtype dtype) {
  constexpr std::size_t bytes[kDtypeCount] = {4, 2, 2, 8, 8, 4, 1, 1};
  return bytes[static_cast<int>(dtype)];
}
constexpr bool is_floating_point(Dtype dtype) { return dtype <= Dtype::f64; }

// The short name: "f32", "bool", …
LABRIG_API const char* name_of(Dtype dtype);
// The name in PyTorch's error texts: "float", "c10::Half", "long int", …
LABRIG_API const char* torch_name_of(Dtype dtype);

// The type of the result of an operation on two tensors of these types (PyTorch's promotion table).
LABRIG_API Dtype promote_types(Dtype a, Dtype b);

// IEEE 754 binary16. Conversion from float rounds to nearest, ties to even; overflow gives infinity.
struct float16 {
  std::uint16_t bits = 0;
  float16() = default;
  LABRIG_API explicit float16(float value);
  LABRIG_API explicit operator float() const;
};

// The upper half of a float. Conversion rounds to nearest, ties to even; NaN stays NaN.
struct bfloat16 {
  std::uint16_t bits = 0;
  bfloat16() = default;
  LABRIG_API explicit bfloat16(float value);
  LABRIG_API explicit operator float() const;
};

template <class T>
struct DtypeOf;
template <>
struct DtypeOf<float> {
  static constexpr Dtype value = Dtype::f32;
};
template <>
struct DtypeOf<float16> {
  static constexpr Dtype value = Dtype::f16;
};
template <>
struct DtypeOf<bfloat16> {
  static constexpr Dtype value = Dtype::bf16;
};
template <>
struct DtypeOf<double> {
  static constexpr Dtype value = Dtype::f64;
};
template <>
struct DtypeOf<std::int64_t> {
  static constexpr Dtype value = Dtype::i64;
};
template <>
struct DtypeOf<std::int32_t> {
  static constexpr Dtype value = Dtype::i32;
};
template <>
struct DtypeOf<std::uint8_t> {
  static constexpr Dtype value = Dtype::u8;
};
template <>
struct DtypeOf<bool> {
  static constexpr Dtype value = Dtype::boolean;
};
template <class T>
inline constexpr Dtype dtype_of = DtypeOf<T>::value;

}  // namespace labrig
