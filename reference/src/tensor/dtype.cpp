// Names of the element types, PyTorch's promotion table, and the two 16-bit formats.
#include "labrig/dtype.hpp"

#include "ops/half.hpp"
#include "tensor/names.hpp"

namespace labrig {
namespace {

constexpr int index_of(Dtype dtype) { return static_cast<int>(dtype); }

}  // namespace

const char* name_of(Dtype dtype) {
  static constexpr const char* kNames[kDtypeCount] = {"f32", "f16", "bf16", "f64", "i64", "i32", "u8", "bool"};
  return kNames[index_of(dtype)];
}

const char* torch_name_of(Dtype dtype) {
  static constexpr const char* kNames[kDtypeCount] = {"float",    "c10::Half", "c10::BFloat16", "double",
                                                      "long int", "int",       "unsigned char", "bool"};
  return kNames[index_of(dtype)];
}

const char* torch_type_name(Dtype dtype) {
  static constexpr const char* kNames[kDtypeCount] = {"Float", "Half", "BFloat16", "Double",
                                                      "Long",  "Int",  "Byte",     "Bool"};
  return kNames[index_of(dtype)];
}

Dtype promote_types(Dtype a, Dtype b) {
  // A float wins over an integer whatever their widths, so f16 with i64 gives f16; the two 16-bit floats meet in f32.
  constexpr Dtype f32 = kF32, f16 = kF16, b16 = kBF16, f64 = kF64, i64 = kI64, i32 = kI32, u8 = kU8, boo = kBool;
  static constexpr Dtype kTable[kDtypeCount][kDtypeCount] = {
      //         f32  f16  bf16 f64  i64  i32  u8   bool
      /* f32  */ {f32, f32, f32, f64, f32, f32, f32, f32},
      /* f16  */ {f32, f16, f32, f64, f16, f16, f16, f16},
      /* bf16 */ {f32, f32, b16, f64, b16, b16, b16, b16},
      /* f64  */ {f64, f64, f64, f64, f64, f64, f64, f64},
      /* i64  */ {f32, f16, b16, f64, i64, i64, i64, i64},
      /* i32  */ {f32, f16, b16, f64, i64, i32, i32, i32},
      /* u8   */ {f32, f16, b16, f64, i64, i32, u8, u8},
      /* bool */ {f32, f16, b16, f64, i64, i32, u8, boo},
  };
  return kTable[index_of(a)][index_of(b)];
}

float16::float16(float value) : bits(kernels::to_f16_bits(value)) {}
float16::operator float() const { return kernels::from_f16_bits(bits); }

bfloat16::bfloat16(float value) : bits(kernels::to_bf16_bits(value)) {}
bfloat16::operator float() const { return kernels::from_bf16_bits(bits); }

}  // namespace labrig
