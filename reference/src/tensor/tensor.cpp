// The tensor handle: what it is made of, and access to its values on the host. Its views: ops/view.cpp.
#include "labrig/tensor.hpp"

#include "device/registry.hpp"
#include "labrig/error.hpp"
#include "labrig/stream.hpp"
#include "tensor/impl.hpp"
#include "tensor/names.hpp"

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

LiveList& live_on_host() {
  static LiveList* const list = new LiveList;  // never ended: tensors may live longer than static objects
  return *list;
}

TensorImpl::TensorImpl(std::shared_ptr<Storage> the_storage, const Layout& the_layout, Dtype the_dtype,
                       std::string the_name)
    : storage(std::move(the_storage)),
      layout(the_layout),
      dtype(the_dtype),
      name(std::move(the_name)),
      live_(storage->live()) {
  if (live_) live_->add(*this);
}

TensorImpl::~TensorImpl() {
  if (live_) live_->remove(*this);
}

void TensorImpl::note_graph() {
  if (live_) return;
  live_ = &live_on_host();
  live_->add(*this);
}

void TensorImpl::show(const TensorImpl& other) {
  const bool had_graph = live_ == &live_on_host();
  if (live_) live_->remove(*this);
  storage = other.storage;
  layout = other.layout;
  dtype = other.dtype;
  origin = other.origin;
  live_ = storage->live();
  if (!live_ && had_graph) live_ = &live_on_host();
  if (live_) live_->add(*this);
}

Tensor alias(const Tensor& tensor, const Layout& layout) { return alias(tensor, layout, tensor.dtype()); }

Tensor alias(const Tensor& tensor, const Layout& layout, Dtype dtype) {
  const TensorImpl& impl = impl_of(tensor);
  Tensor result(std::make_shared<TensorImpl>(impl.storage, layout, dtype, impl.name));
  result.impl()->origin = impl.origin;
  return result;
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
  if (write && requires_grad()) {
    throw Error("requires-grad",
                "Can't call numpy() on Tensor that requires grad. Use tensor.detach().numpy() instead.",
                called + " requires a gradient, and a change through data<T>() would be seen by no graph",
                "write through detach().data<T>(), or read with data<const T>()");
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

}  // namespace labrig
