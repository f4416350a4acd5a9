// Copies and fills as the calls of a tensor: to, pin_memory, clone, contiguous, copy_, fill_. The gradient of a copy is
// a copy the other way. Read next: ../tensor/copy.cpp (how values get from one tensor into another).
#include "device/registry.hpp"
#include "graph/node.hpp"
#include "labrig/error.hpp"
#include "labrig/ops.hpp"
#include "ops/operands.hpp"
#include "tensor/impl.hpp"
#include "tensor/names.hpp"

namespace labrig {
namespace {

using trace::Cause;

Tensor zeros_for(const Tensor& gradient) { return zeros(gradient.sizes(), {gradient.dtype(), gradient.device()}); }

// `copy` holds the values of x. Its gradient goes to where x is, as what x is.
void record_copy(const char* node, const Tensor& copy, const Tensor& x) {
  graph::record(node, copy, {&x}, [&](graph::Saver&) {
    return [device = x.device(), dtype = x.dtype()](const Tensor& gradient, graph::Gradients& to) {
      to.give(0, gradient.to(device, dtype));
    };
  });
}

const Tensor& fill(const Tensor& self, double value, const char* node) {
  check_holds(impl_of(self).dtype, value);
  graph::check_in_place(self);
  fill_values(self, value);
  graph::record_in_place(node, self, {&self}, [](graph::Saver&) {
    return [](const Tensor& gradient, graph::Gradients& to) { to.give(0, zeros_for(gradient)); };
  });
  return self;
}

}  // namespace

Tensor Tensor::to(Device device, bool non_blocking, bool copy) const { return to(device, dtype(), non_blocking, copy); }
Tensor Tensor::to(Dtype dtype, bool copy) const { return to(device(), dtype, false, copy); }

Tensor Tensor::to(Device device, Dtype dtype, bool non_blocking, bool copy) const {
  const TensorImpl& impl = impl_of(*this);
  const Device target = resolve(device);
  if (!copy && target == this->device() && dtype == impl.dtype) return *this;
  // A download that does not wait needs a landing place that the card reaches by itself.
  const bool pinned = non_blocking && target.is_cpu() && !this->device().is_cpu();
  Tensor result = pinned ? make_pinned(sizes(), dtype, pinning_slot(this->device().type()), impl.name)
                         : make_tensor(sizes(), {dtype, target}, impl.name);
  copy_values(result, *this, non_blocking, Cause::asked);
  record_copy("ToCopyBackward0", result, *this);
  return with_origin(std::move(result), Origin::copy_of(impl.name, this->device(), "to"));
}

Tensor Tensor::pin_memory() const {
  const TensorImpl& impl = impl_of(*this);
  if (!device().is_cpu()) {
    throw Error("not-on-the-host", "cannot pin '" + torch_tensor_name(*this) + "' only dense CPU tensors can be pinned",
                "pinned memory is host memory, and the tensor lives on " + device().str(),
                "pin the host tensor that it was made from");
  }
  if (is_pinned()) return *this;
  Tensor result = make_pinned(sizes(), impl.dtype, slot_for_pinning(), impl.name);
  copy_values(result, *this, false, Cause::asked);
  record_copy("PinMemoryBackward0", result, *this);
  return with_origin(std::move(result), Origin::copy_of(impl.name, Device{}, "pin_memory"));
}

Tensor Tensor::clone() const {
  Tensor result = contiguous_copy(*this, dtype(), Cause::asked);
  record_copy("CloneBackward0", result, *this);
  return result;
}

Tensor Tensor::contiguous() const { return is_contiguous() ? *this : clone(); }

const Tensor& Tensor::copy_(const Tensor& src, bool non_blocking) const {
  if (is_same(src)) return *this;
  graph::check_in_place(*this, src);
  check_overlap(*this, src);
  copy_values(*this, src, non_blocking, Cause::asked);
  graph::record_in_place("CopyBackwards", *this, {this, &src}, [&](graph::Saver&) {
    return [sizes = src.sizes(), dtype = src.dtype(), device = src.device()](const Tensor& gradient,
                                                                             graph::Gradients& to) {
      if (to.wanted(0)) to.give(0, zeros_for(gradient));
      if (to.wanted(1)) to.give(1, sum_to_size(gradient, sizes).to(device, dtype));
    };
  });
  return *this;
}

const Tensor& Tensor::fill_(double value) const { return fill(*this, value, "FillBackward0"); }
const Tensor& Tensor::zero_() const { return fill(*this, 0, "ZeroBackward0"); }

}  // namespace labrig
