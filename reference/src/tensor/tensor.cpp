// The tensor handle: what it is made of, its views, and access to its values on the host.
#include "labrig/tensor.hpp"

#include "device/registry.hpp"
#include "labrig/error.hpp"
#include "labrig/stream.hpp"
#include "tensor/impl.hpp"
#include "tensor/names.hpp"
#include "tensor/view.hpp"

namespace labrig {

const TensorImpl& impl_of(const Tensor& tensor) {
  if (tensor.defined()) return *tensor.impl();
  throw Error("undefined-tensor", "the tensor is undefined", "a Tensor that nothing was assigned to has no values",
              "assign one first, as in `x = labrig::zeros({2, 3})`");
}

std::string torch_tensor_name(const Tensor& tensor) {
  const Device device = tensor.device();
  return std::string("torch.") + (device.is_cpu() ? "" : std::string(name_of(device.type())) + ".") +
         torch_type_name(tensor.dtype()) + "Tensor";
}

Device Tensor::device() const { return impl_of(*this).storage->device(); }
Dtype Tensor::dtype() const { return impl_of(*this).dtype; }
const Layout& Tensor::layout() const { return impl_of(*this).layout; }
std::size_t Tensor::nbytes() const { return static_cast<std::size_t>(numel()) * element_bytes(dtype()); }
bool Tensor::is_pinned() const { return impl_of(*this).storage->is_pinned(); }
const std::string& Tensor::name() const { return impl_of(*this).name; }

std::int64_t Tensor::size(int dim_) const {
  const Dims& all = sizes();
  if (all.count() == 0) {
    throw Error("dimension-out-of-range",
                "Dimension specified as " + std::to_string(dim_) + " but tensor has no dimensions",
                "the tensor holds one value and has no sizes", "use numel(), or give the tensor a dimension");
  }
  return all[wrap_dim(dim_, all.count())];
}

Tensor& Tensor::set_name(std::string name) {
  const Storage& storage = *impl_of(*this).storage;
  impl_->name = std::move(name);
  if (nbytes() == storage.bytes()) storage.note_name(impl_->name);
  return *this;
}

void Tensor::record_stream(Stream stream) const {
  const Storage& storage = *impl_of(*this).storage;
  const auto slot = slot_of(stream.device());
  const Device other = slot->device();
  if (other != device() && !storage.is_pinned_for(other.type())) {
    throw Error("device-mismatch",
                "a tensor on " + device().str() + " cannot be recorded in a stream of " + other.str(),
                "record_stream tells the memory of a device about work of that device",
                "record a stream of " + device().str() + ", or copy the tensor to " + other.str());
  }
  if (!other.is_cpu()) storage.record_use(*slot, stream.id());
}

void* Tensor::data_ptr() const {
  const TensorImpl& impl = impl_of(*this);
  std::byte* data = impl.storage->data();
  if (!data) return nullptr;
  return data + impl.layout.offset * static_cast<std::int64_t>(element_bytes(impl.dtype));
}

void* Tensor::host_data(Dtype asked, bool write) const {
  const TensorImpl& impl = impl_of(*this);
  const std::string called = impl.name.empty() ? "the tensor" : "'" + impl.name + "'";
  if (!device().is_cpu()) {
    throw Error("not-on-the-host",
                "can't convert " + device().str() +
                    " device type tensor to numpy. Use Tensor.cpu() to copy the tensor to host memory first.",
                called + " lives on " + device().str() + ", whose memory the host cannot read or write",
                "call .cpu() and use data() of what it returns");
  }
  if (asked != impl.dtype) {
    throw Error(
        "dtype-mismatch",
        std::string("expected scalar type ") + torch_type_name(asked) + " but found " + torch_type_name(impl.dtype),
        called + " has elements of type " + name_of(impl.dtype) + "; data<T>() shows them as they are",
        std::string("ask for the type that it has, or convert it with .to(") + name_of(asked) + ") first");
  }
  if (!impl.layout.is_contiguous()) {
    throw Error("not-contiguous", "data() needs a contiguous tensor",
                called + " has sizes " + impl.layout.sizes.str() + " and strides " + impl.layout.strides.str() +
                    ", so its elements do not lie one after another",
                "call .contiguous() and use data() of what it returns");
  }
  announce_host_access(impl, write);
  return data_ptr();
}

// --- views ---------------------------------------------------------------------------------------------------------

Tensor Tensor::with_layout(const Layout& new_layout) const {
  const TensorImpl& impl = impl_of(*this);
  return Tensor(std::make_shared<TensorImpl>(TensorImpl{impl.storage, new_layout, impl.dtype, impl.name, nullptr}));
}

Tensor Tensor::view(const Dims& sizes) const { return with_layout(layout().view(sizes)); }
Tensor Tensor::narrow(int dim, std::int64_t start, std::int64_t length) const {
  return with_layout(layout().narrow(dim, start, length));
}
Tensor Tensor::select(int dim, std::int64_t index) const { return with_layout(layout().select(dim, index)); }
Tensor Tensor::slice(int dim, std::int64_t start, std::int64_t end, std::int64_t step) const {
  return with_layout(layout().slice(dim, start, end, step));
}
Tensor Tensor::transpose(int dim0, int dim1) const { return with_layout(layout().transpose(dim0, dim1)); }
Tensor Tensor::permute(const Dims& order) const { return with_layout(layout().permute(order)); }
Tensor Tensor::unsqueeze(int dim) const { return with_layout(layout().unsqueeze(dim)); }
Tensor Tensor::squeeze(int dim) const { return with_layout(layout().squeeze(dim)); }
Tensor Tensor::expand(const Dims& sizes) const { return with_layout(layout().expand(sizes)); }
Tensor Tensor::detach() const { return with_layout(layout()); }

Tensor Tensor::t() const {
  if (dim() > 2) {
    throw Error("shape-mismatch",
                "t() expects a tensor with <= 2 dimensions, but self is " + std::to_string(dim()) + "D",
                "t() swaps rows and columns of a matrix", "name the two dimensions: transpose(-2, -1)");
  }
  return dim() < 2 ? detach() : transpose(0, 1);
}

Tensor Tensor::reshape(const Dims& sizes) const {
  const Dims known = infer_sizes(sizes, numel());
  if (const auto layout_ = try_view(layout(), known)) return with_layout(*layout_);
  return contiguous_copy(*this, dtype(), trace::Cause::hidden).view(known);
}

}  // namespace labrig
