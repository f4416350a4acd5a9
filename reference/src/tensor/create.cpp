// New tensors. On a card their values are written by a kernel there: nothing crosses the bus.
#include <cmath>
#include <cstdio>
#include <cstring>

#include "device/registry.hpp"
#include "labrig/error.hpp"
#include "tensor/impl.hpp"

namespace labrig {

std::size_t storage_bytes(const Dims& sizes, Dtype dtype) {
  for (const std::int64_t size : sizes) {
    if (size >= 0) continue;
    throw Error("invalid-shape",
                "Trying to create tensor with negative dimension " + std::to_string(size) + ": " + sizes.str(),
                "a size counts elements", "correct the shape");
  }
  std::int64_t bytes = 0;
  if (__builtin_mul_overflow(sizes.product(), static_cast<std::int64_t>(element_bytes(dtype)), &bytes)) {
    throw Error("invalid-shape", "Storage size calculation overflowed with sizes=" + sizes.str(),
                "so many elements cannot be counted in 64 bits, let alone stored", "correct the shape");
  }
  return static_cast<std::size_t>(bytes);
}

namespace {

Tensor contiguous_tensor(std::shared_ptr<Storage> storage, const Dims& sizes, Dtype dtype, std::string_view name) {
  return Tensor(std::make_shared<TensorImpl>(std::move(storage), Layout::contiguous(sizes), dtype, std::string(name)));
}

}  // namespace

Tensor with_origin(Tensor tensor, Origin origin) {
  tensor.impl()->origin = std::move(origin);
  return tensor;
}

Tensor make_pinned(const Dims& sizes, Dtype dtype, std::shared_ptr<DeviceSlot> slot, std::string_view name) {
  return contiguous_tensor(Storage::pinned(std::move(slot), storage_bytes(sizes, dtype), name), sizes, dtype, name);
}

Tensor make_tensor(const Dims& sizes, Options options, std::string_view name) {
  const std::size_t bytes = storage_bytes(sizes, options.dtype);
  if (options.pinned && !options.device.is_cpu()) {
    throw Error("not-on-the-host", "Only dense CPU tensors can be pinned",
                "pinned memory is host memory, and a tensor on " + options.device.str() + " was asked for",
                "make the tensor on \"cpu\" with pinned_memory(), then move it");
  }
  if (options.pinned) return make_pinned(sizes, options.dtype, slot_for_pinning(), name);
  auto storage =
      options.device.is_cpu() ? Storage::on_host(bytes) : Storage::on_card(slot_of(options.device), bytes, name);
  Tensor result = contiguous_tensor(std::move(storage), sizes, options.dtype, name);
  return name.empty() ? result : with_origin(std::move(result), Origin::output_of(name));
}

Tensor make_strided(const Layout& layout, Options options, std::string_view name) {
  const Tensor memory = make_tensor({layout.span_elements()}, options, name);
  return alias(memory, {layout.sizes, layout.strides, 0});
}

Tensor empty(const Dims& sizes, Options options) {
  return with_origin(make_tensor(sizes, options, ""), Origin::made_by("empty"));
}

namespace {

std::string number_text(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%g", value);
  return text;
}

}  // namespace

void check_holds(Dtype dtype, double value) {
  // By Dtype: the largest number, and what PyTorch calls the type here.
  static constexpr struct {
    double largest;
    const char* name;
  } kTypes[kDtypeCount] = {{3.4028234663852886e38, "float"},
                           {65504, "at::Half"},
                           {3.3895313892515355e38, "at::BFloat16"},
                           {1.7976931348623157e308, "double"},
                           {0x1p63, "int64_t"},
                           {2147483647, "int"},
                           {255, "uint8_t"},
                           {0, "bool"}};
  if (dtype == kBool) return;
  const auto& type = kTypes[static_cast<int>(dtype)];
  const bool fits = std::abs(value) <= type.largest && !(dtype == kI64 && value == 0x1p63);
  if (fits || (is_floating_point(dtype) && !std::isfinite(value)) || (dtype == kI32 && value == -0x1p31)) return;
  throw Error("value-overflow", std::string("value cannot be converted to type ") + type.name + " without overflow",
              "elements of type " + std::string(name_of(dtype)) + " cannot hold " + number_text(value),
              is_floating_point(dtype) ? "use a number that the type holds (f16 ends at 65504), or -infinity for a mask"
                                       : "use a number that the type holds, or another type");
}

Tensor full(const Dims& sizes, double value, Options options) {
  check_holds(options.dtype, value);
  return filled(sizes, value, options);
}

Tensor filled(const Dims& sizes, double value, Options options) {
  Tensor result = with_origin(make_tensor(sizes, options, ""), Origin::made_by("full"));
  fill_values(result, value);
  return result;
}

Tensor zeros(const Dims& sizes, Options options) {
  return with_origin(full(sizes, 0, options), Origin::made_by("zeros"));
}
Tensor ones(const Dims& sizes, Options options) {
  return with_origin(full(sizes, 1, options), Origin::made_by("ones"));
}

Tensor empty_like(const Tensor& like) {
  return with_origin(make_tensor(like.sizes(), {like.dtype(), like.device()}, like.name()),
                     Origin::made_by("empty_like"));
}

Tensor arange(std::int64_t count, Options options) {
  if (count < 0) {
    throw Error("invalid-shape", "upper bound and larger bound inconsistent with step sign",
                "arange counts up from 0, and " + std::to_string(count) + " is below it", "pass a count of 0 or more");
  }
  Tensor result = with_origin(make_tensor({count}, options, ""), Origin::made_by("arange"));
  KernelCall call;
  call.kernel = Kernel::arange;
  call.push(operand_of(result, Access::write));
  launch(result, call);
  return result;
}

void fill_values(const Tensor& dst, double value) {
  KernelCall call;
  call.kernel = Kernel::fill;
  call.push(operand_of(dst, Access::write));
  call.scalars[0] = scalar_bits(value);
  launch(dst, call);
}

Tensor from_blob(void* data, const Dims& sizes, Dtype dtype) {
  return with_origin(contiguous_tensor(Storage::borrowed(data, storage_bytes(sizes, dtype)), sizes, dtype, ""),
                     Origin::made_by("from_blob"));
}

Tensor detail::tensor_from(const void* data, std::size_t count, Dtype dtype, const Dims& sizes) {
  if (static_cast<std::int64_t>(count) != sizes.product()) {
    throw Error("invalid-shape", "shape '" + sizes.str() + "' is invalid for input of size " + std::to_string(count),
                "the shape has " + std::to_string(sizes.product()) + " elements, and " + std::to_string(count) +
                    " values were given",
                "correct the shape or the values");
  }
  Tensor result = with_origin(make_tensor(sizes, dtype, ""), Origin::made_by("tensor"));
  if (count > 0) std::memcpy(result.data_ptr(), data, result.nbytes());
  return result;
}

}  // namespace labrig
