// What a Tensor points to, and the few calls with which the rest of the core makes tensors and moves values.
// Read next: storage.hpp; copy.cpp (how values get from one tensor into another).
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "device/live_list.hpp"
#include "labrig/tensor.hpp"
#include "labrig/trace.hpp"
#include "ops/kernel.hpp"
#include "tensor/origin.hpp"
#include "tensor/storage.hpp"

namespace labrig {

namespace graph {
struct Meta;  // graph/meta.hpp
}

// While it lives it is in the list of its card (LiveList), so that somebody can ask who keeps a block. Of the host only
// tensors with a graph are in one: they may keep memory of a card.
struct TensorImpl : LiveLink {
  TensorImpl(std::shared_ptr<Storage> the_storage, const Layout& the_layout, Dtype the_dtype, std::string the_name);
  ~TensorImpl();
  TensorImpl(const TensorImpl&) = delete;
  TensorImpl& operator=(const TensorImpl&) = delete;
  // It has a graph now.
  void note_graph();
  // Shows the elements of `other` from now on, wherever they are; name and gradient stay.
  void show(const TensorImpl& other);

  std::shared_ptr<Storage> storage;
  Layout layout;
  Dtype dtype;
  bool made_without_grad = false;  // a view that was made while gradients were off
  std::string name;
  std::shared_ptr<graph::Meta> meta;  // null while the tensor has nothing to do with gradients
  const char* saved_by = nullptr;     // the node that keeps it for the way back: "ExpBackward0"
  Origin origin = {};

 private:
  LiveList* live_ = nullptr;
};
// Of the host: those with a graph.
LiveList& live_on_host();

// The impl of a tensor that must be defined. Throws `undefined-tensor`.
const TensorImpl& impl_of(const Tensor& tensor);

// The memory of `tensor` under another layout: a handle of its own with the same name and without a history.
Tensor alias(const Tensor& tensor, const Layout& layout);
// The same, its bytes read as elements of another type of the same size.
LABRIG_API Tensor alias(const Tensor& tensor, const Layout& layout, Dtype dtype);

// An empty tensor with a name from the start: the name under which its memory is announced. It counts as the output of
// an operator of that name until with_origin() says otherwise.
Tensor make_tensor(const Dims& sizes, Options options, std::string_view name);
// Says where a tensor that was just made came from. Returns it.
Tensor with_origin(Tensor tensor, Origin origin);
// A host tensor in memory that is pinned for the card of `slot`.
Tensor make_pinned(const Dims& sizes, Dtype dtype, std::shared_ptr<DeviceSlot> slot, std::string_view name);
// A tensor with these strides, in memory that begins with its first element; the elements must not overlap.
Tensor make_strided(const Layout& layout, Options options, std::string_view name);
// The bytes of a contiguous tensor of these sizes. Throws `invalid-shape` for negative sizes and overflow.
std::size_t storage_bytes(const Dims& sizes, Dtype dtype);

// Tells the clock of a simulated machine that the host reads or writes the elements now; nothing for memory that is not
// pinned for it (host_access.cpp).
void announce_host_access(const TensorImpl& impl, bool write);

// The tensor as an operand of a kernel that is launched next: on the host this is its access.
Operand operand_of(const Tensor& tensor, Access access);
// Queues the call on the current stream of the device of `out`, the tensor of operand 0; nothing when that is empty.
void launch(const Tensor& out, const KernelCall& call);

// dst <- value.
void fill_values(const Tensor& dst, double value);
// Throws `value-overflow` when elements of this type cannot hold the number that a caller gave (infinities fit into
// floats).
void check_holds(Dtype dtype, double value);
// full() for a number that was computed: what does not fit overflows.
Tensor filled(const Dims& sizes, double value, Options options);
// dst <- src: broadcast, converted, from any device to any other. `cause` is what the trace and the card are told.
void copy_values(const Tensor& dst, const Tensor& src, bool non_blocking, trace::Cause cause);
// A contiguous copy of `src` on its own device, of type `dtype`.
Tensor contiguous_copy(const Tensor& src, Dtype dtype, trace::Cause cause);

}  // namespace labrig
