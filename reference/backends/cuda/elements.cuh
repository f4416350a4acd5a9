// What every kernel of this folder shares on the card: reading and writing elements of any type, the grid-stride loop,
// and the way from an element's number to its place in each operand. Rules of conversion are those of
// src/ops/strided.hpp.
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <cstdint>

#include "check.hpp"
#include "elements.hpp"
#include "launch.hpp"
#include "ops/map.hpp"
#include "ops/strided.hpp"

namespace labrig::cuda {

using kernels::Arithmetic;
using kernels::Bool8;
using kernels::dispatch;
using kernels::dispatch_float;
using kernels::is_float_element;

// For kernels that move elements and look at none: `f.operator()<Bits>()` with an integer of the element's width.
template <class F>
void dispatch_bits(Dtype dtype, F&& f) {
  switch (element_bytes(dtype)) {
    case 1:
      return f.template operator()<std::uint8_t>();
    case 2:
      return f.template operator()<std::uint16_t>();
    case 4:
      return f.template operator()<std::uint32_t>();
    default:
      return f.template operator()<std::uint64_t>();
  }
}

// --- one element ---------------------------------------------------------------------------------------------------

// To the type in which arithmetic on T is done. Exact.
template <class T>
__device__ Arithmetic<T> widen(T element) {
  if constexpr (std::is_same_v<T, float16>)
    return __half2float(__ushort_as_half(element.bits));
  else if constexpr (std::is_same_v<T, bfloat16>)
    return __bfloat162float(__ushort_as_bfloat16(element.bits));
  else if constexpr (std::is_same_v<T, Bool8>)
    return element.byte != 0;
  else
    return element;
}

// Back to T: floats round to nearest even, integers keep their low bits, bool becomes "not zero".
template <class T>
__device__ T narrow(Arithmetic<T> value) {
  if constexpr (std::is_same_v<T, float16> || std::is_same_v<T, bfloat16>) {
    T element;
    if constexpr (std::is_same_v<T, float16>)
      element.bits = __half_as_ushort(__float2half_rn(value));
    else
      element.bits = __bfloat16_as_ushort(__float2bfloat16_rn(value));
    return element;
  } else if constexpr (std::is_same_v<T, Bool8>) {
    return Bool8{static_cast<std::uint8_t>(value != 0)};
  } else {
    return static_cast<T>(value);
  }
}

// Any element to any type. Float to integer goes towards zero and stops at the ends of the range (which is what the
// card's conversion does); NaN gives 0.
template <class To, class From>
__device__ To cast_to(From element) {
  if constexpr (std::is_same_v<To, From>) {
    return element;
  } else {
    const auto value = widen(element);
    if constexpr (std::is_same_v<To, Bool8>)
      return Bool8{static_cast<std::uint8_t>(value != 0)};
    else if constexpr (is_float_element<To>)
      return narrow<To>(static_cast<Arithmetic<To>>(value));
    else if constexpr (!is_float_element<From>)
      return static_cast<To>(value);
    else if constexpr (std::is_same_v<To, std::uint8_t>)
      return isnan(value) ? To{0} : static_cast<To>(static_cast<std::int64_t>(value));
    else
      return isnan(value) ? To{0} : static_cast<To>(value);
  }
}

// Element `offset` of an operand whose type is known only now. All threads of a launch take the same branch.
template <class To>
__device__ To load_as(const View& view, std::int64_t offset) {
  switch (view.dtype) {
    case Dtype::f32:
      return cast_to<To>(static_cast<const float*>(view.data)[offset]);
    case Dtype::f16:
      return cast_to<To>(static_cast<const float16*>(view.data)[offset]);
    case Dtype::bf16:
      return cast_to<To>(static_cast<const bfloat16*>(view.data)[offset]);
    case Dtype::f64:
      return cast_to<To>(static_cast<const double*>(view.data)[offset]);
    case Dtype::i64:
      return cast_to<To>(static_cast<const std::int64_t*>(view.data)[offset]);
    case Dtype::i32:
      return cast_to<To>(static_cast<const std::int32_t*>(view.data)[offset]);
    case Dtype::u8:
      return cast_to<To>(static_cast<const std::uint8_t*>(view.data)[offset]);
    case Dtype::boolean:
      return cast_to<To>(static_cast<const Bool8*>(view.data)[offset]);
  }
  return To{};
}

template <class From>
__device__ void store_as(const View& view, std::int64_t offset, From value) {
  switch (view.dtype) {
    case Dtype::f32:
      static_cast<float*>(view.data)[offset] = cast_to<float>(value);
      break;
    case Dtype::f16:
      static_cast<float16*>(view.data)[offset] = cast_to<float16>(value);
      break;
    case Dtype::bf16:
      static_cast<bfloat16*>(view.data)[offset] = cast_to<bfloat16>(value);
      break;
    case Dtype::f64:
      static_cast<double*>(view.data)[offset] = cast_to<double>(value);
      break;
    case Dtype::i64:
      static_cast<std::int64_t*>(view.data)[offset] = cast_to<std::int64_t>(value);
      break;
    case Dtype::i32:
      static_cast<std::int32_t*>(view.data)[offset] = cast_to<std::int32_t>(value);
      break;
    case Dtype::u8:
      static_cast<std::uint8_t*>(view.data)[offset] = cast_to<std::uint8_t>(value);
      break;
    case Dtype::boolean:
      static_cast<Bool8*>(view.data)[offset] = cast_to<Bool8>(value);
      break;
  }
}

// --- all elements --------------------------------------------------------------------------------------------------

// The grid-stride loop: a thread takes element first_index(), then every index_step()-th one, so that any grid covers
// any count and neighbouring threads touch neighbouring elements.
__device__ inline std::int64_t first_index() { return std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x; }
__device__ inline std::int64_t index_step() { return std::int64_t{gridDim.x} * blockDim.x; }

// Where element `index` (row-major over the merged shape) lies in each operand. Index is 32 bits wide when the count
// allows it: 64-bit division is several times slower.
template <int kViews, class Index>
__device__ void find_offsets(const Elements& elements, Index index, std::int64_t (&offsets)[kViews]) {
  for (int i = 0; i < kViews; ++i) offsets[i] = 0;
  for (int d = elements.dims - 1; d >= 0; --d) {
    Index within = index;
    if (d > 0) {
      const auto size = static_cast<Index>(elements.sizes[d]);
      const Index before = index / size;
      within = index - before * size;
      index = before;
    }
    for (int i = 0; i < kViews; ++i) offsets[i] += static_cast<std::int64_t>(within) * elements.view[i].strides[d];
  }
}

template <int kViews>
__device__ void find_offsets_of(const Elements& elements, std::int64_t index, std::int64_t (&offsets)[kViews]) {
  if (elements.count <= UINT32_MAX)
    find_offsets(elements, static_cast<std::uint32_t>(index), offsets);
  else
    find_offsets(elements, static_cast<std::uint64_t>(index), offsets);
}

// 16 bytes of elements, moved by one instruction.
template <class T>
struct alignas(16) Pack {
  static constexpr int kCount = 16 / sizeof(T);
  T element[kCount];
};

}  // namespace labrig::cuda
