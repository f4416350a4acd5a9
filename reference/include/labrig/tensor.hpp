// The tensor: a handle on a storage (bytes on one device) seen through a layout (sizes, strides, offset) as elements of
// one type. Copying a Tensor copies the handle. Views share the storage; `to` returns the tensor itself when nothing
// changes. Names and semantics are PyTorch's. Read next: ops.hpp (arithmetic), stream.hpp (when a copy waits).
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "labrig/device.hpp"
#include "labrig/dtype.hpp"
#include "labrig/export.hpp"
#include "labrig/layout.hpp"

namespace labrig {

// What a new tensor is made of. Converts from a device or a dtype alone: `zeros({2, 3}, device)`.
struct Options {
  Dtype dtype = Dtype::f32;
  Device device = {};
  bool pinned = false;  // host memory that a card can reach by itself

  Options() = default;
  Options(Device d) : device(d) {}
  Options(Dtype t) : dtype(t) {}
  Options(Dtype t, Device d) : dtype(t), device(d) {}
  Options(Device d, Dtype t) : dtype(t), device(d) {}
  Options pinned_memory(bool on = true) const {
    Options o = *this;
    o.pinned = on;
    return o;
  }
};

struct TensorImpl;  // reference/src/tensor/impl.hpp
class Storage;      // reference/src/tensor/storage.hpp
class Stream;       // stream.hpp

class LABRIG_API Tensor {
 public:
  Tensor() = default;  // undefined: every other call throws
  explicit Tensor(std::shared_ptr<TensorImpl> impl) : impl_(std::move(impl)) {}

  bool defined() const { return impl_ != nullptr; }
  Device device() const;
  Dtype dtype() const;
  const Layout& layout() const;
  const Dims& sizes() const { return layout().sizes; }
  const Dims& strides() const { return layout().strides; }
  std::int64_t size(int dim) const;
  int dim() const { return layout().dim(); }
  std::int64_t numel() const { return layout().numel(); }
  // numel times the element size; the storage may be larger.
  std::size_t nbytes() const;
  bool is_contiguous() const { return layout().is_contiguous(); }
  bool is_pinned() const;
  // True when both share their first element, device and storage.
  bool is_same(const Tensor& other) const { return impl_ == other.impl_; }

  // What messages, traces and reports call this tensor. Views, `to` and `clone` inherit it. A card learns the name when
  // the tensor is all of its memory, so that a view can have a name of its own. Returns *this.
  const std::string& name() const;
  Tensor& set_name(std::string name);

  // Address of the first element, on whatever device. A device address is good for nothing on the host.
  void* data_ptr() const;
  // Host access to a contiguous CPU tensor of exactly this type: `data<const T>()` to read, `data<T>()` to read and
  // write. Of pinned memory a simulated card is told, at this call, that the host reads or writes it now: a copy that
  // is still under way there is then a hazard. Throws `not-on-the-host`, `dtype-mismatch`, `not-contiguous`.
  template <class T>
  std::span<T> data() const {
    void* first = host_data(dtype_of<std::remove_const_t<T>>, !std::is_const_v<T>);
    return {static_cast<T*>(first), static_cast<std::size_t>(numel())};
  }
  // The value of a tensor of one element, converted. On a card this waits for the current stream and copies
  // (one device-to-host copy, one value synchronisation).
  template <class T = double>
  T item() const {
    if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>)
      return static_cast<T>(item_as_int());
    else
      return static_cast<T>(item_as_double());
  }
  // True when an element of a one-element tensor is not zero; synchronises as item() does.
  explicit operator bool() const { return is_nonzero(); }
  // Sizes, type, device and values (fetched if on a card, which synchronises).
  std::string str() const;

  // --- where it lives -------------------------------------------------------------------------------------------
  // A tensor on `device` with element type `dtype`; this one when it already is there and `copy` is false.
  // Blocks the host until the copy is done, unless `non_blocking` and the host memory is pinned. A download that does
  // not block lands in pinned memory. Between two cards the copy is work in the current stream of the source, ordered
  // with the current stream of the destination both before and after; the host does not wait.
  Tensor to(Device device, bool non_blocking = false, bool copy = false) const;
  Tensor to(Dtype dtype, bool copy = false) const;
  Tensor to(Device device, Dtype dtype, bool non_blocking = false, bool copy = false) const;
  Tensor cpu() const { return to(Device{}); }
  // A copy in pinned host memory; this tensor when it is pinned already. Throws for device tensors.
  Tensor pin_memory() const;
  // Work in `stream` uses this tensor: when its memory is freed it is not handed out again before the work that is in
  // the stream by then is done. Needed for a tensor that is used in another stream than the one it was made in. Also
  // for pinned memory, where copies that do not block are recorded without being asked for; no effect for other host
  // memory. Throws `device-mismatch` for a stream of another device.
  void record_stream(Stream stream) const;
  // Copies the values of `src` (broadcast, converted, from any device) into this tensor. Returns *this.
  const Tensor& copy_(const Tensor& src, bool non_blocking = false) const;
  const Tensor& fill_(double value) const;
  const Tensor& zero_() const;
  Tensor clone() const;
  // This tensor when its elements lie row-major without gaps, else a copy that does.
  Tensor contiguous() const;

  // --- views: share the storage, copy nothing ------------------------------------------------------------------
  Tensor view(const Dims& sizes) const;
  Tensor reshape(const Dims& sizes) const;  // a view where the strides allow it, else a copy
  Tensor flatten() const { return reshape({-1}); }
  Tensor narrow(int dim, std::int64_t start, std::int64_t length) const;
  Tensor select(int dim, std::int64_t index) const;
  Tensor slice(int dim, std::int64_t start, std::int64_t end, std::int64_t step = 1) const;
  Tensor operator[](std::int64_t index) const { return select(0, index); }
  Tensor transpose(int dim0, int dim1) const;
  Tensor t() const;
  Tensor permute(const Dims& order) const;
  Tensor unsqueeze(int dim) const;
  Tensor squeeze(int dim) const;
  Tensor expand(const Dims& sizes) const;

  // --- gradients: autograd.hpp ------------------------------------------------------------------------------------
  bool requires_grad() const;
  // For leaves of a floating point type. Returns *this.
  const Tensor& requires_grad_(bool on = true) const;
  // The gradient that backward() left here; undefined before, and for tensors that are no leaves unless retain_grad().
  Tensor grad() const;
  void set_grad(const Tensor& grad) const;  // undefined: none
  bool is_leaf() const;
  // "AddBackward0", …: the step that leads back from this tensor; empty for a leaf.
  std::string grad_fn() const;
  void retain_grad() const;
  // autograd::backward for this tensor.
  void backward(const Tensor& gradient = {}, bool retain_graph = false) const;
  // The same values without a way back; in place, the tensor itself becomes a leaf.
  Tensor detach() const;
  const Tensor& detach_() const;
  // How often the memory was changed in place. Views share it.
  std::uint32_t version() const;

  const std::shared_ptr<TensorImpl>& impl() const { return impl_; }

 private:
  void* host_data(Dtype dtype, bool write) const;
  double item_as_double() const;
  std::int64_t item_as_int() const;
  bool is_nonzero() const;

  std::shared_ptr<TensorImpl> impl_;
};

// --- creation ------------------------------------------------------------------------------------------------------
// On a card the values are written there by a kernel: nothing crosses the bus.
LABRIG_API Tensor empty(const Dims& sizes, Options options = {});
LABRIG_API Tensor full(const Dims& sizes, double value, Options options = {});
LABRIG_API Tensor zeros(const Dims& sizes, Options options = {});
LABRIG_API Tensor ones(const Dims& sizes, Options options = {});
LABRIG_API Tensor empty_like(const Tensor& like);
// 0, 1, …, count - 1. i64 on the CPU unless asked otherwise.
LABRIG_API Tensor arange(std::int64_t count, Options options = {Dtype::i64});

// A CPU tensor that copies `values`.
template <class T>
Tensor tensor(std::span<const T> values, const Dims& sizes);
template <class T>
Tensor tensor(const std::vector<T>& values) {
  return tensor<T>(std::span<const T>(values), Dims{static_cast<std::int64_t>(values.size())});
}
// A CPU tensor over memory that the caller owns and keeps alive.
LABRIG_API Tensor from_blob(void* data, const Dims& sizes, Dtype dtype);

namespace detail {
LABRIG_API Tensor tensor_from(const void* data, std::size_t count, Dtype dtype, const Dims& sizes);
}
template <class T>
Tensor tensor(std::span<const T> values, const Dims& sizes) {
  return detail::tensor_from(values.data(), values.size(), dtype_of<T>, sizes);
}

}  // namespace labrig
