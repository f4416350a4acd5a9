// What a Tensor points to, and the few calls with which the rest of the core makes tensors and moves values.
// Read next: storage.hpp; copy.cpp (how values get from one tensor into another).
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "labrig/tensor.hpp"
#include "labrig/trace.hpp"
#include "ops/kernel.hpp"
#include "tensor/origin.hpp"
#include "tensor/storage.hpp"

namespace labrig {

namespace graph {
struct Meta;  // graph/meta.hpp
}

struct TensorImpl {
  std::shared_ptr<Storage> storage;
  Layout layout;
  Dtype dtype = Dtype::f32;
  std::string name;
  std::shared_ptr<graph::Meta> meta;  // null while the tensor has nothing to do with gradients
  Origin origin = {};
};

// The impl of a tensor that must be defined. Throws `undefined-tensor`.
const TensorImpl& impl_of(const Tensor& tensor);

// An empty tensor with a name from the start: the name under which its memory is announced. It counts as the output of
// an operator of that name until with_origin() says otherwise.
Tensor make_tensor(const Dims& sizes, Options options, std::string_view name);
// Says where a tensor that was just made came from. Returns it.
Tensor with_origin(Tensor tensor, Origin origin);
// A host tensor in memory that is pinned for the card of `slot`.
Tensor make_pinned(const Dims& sizes, Dtype dtype, std::shared_ptr<DeviceSlot> slot, std::string_view name);
// The bytes of a contiguous tensor of these sizes. Throws `invalid-shape` for negative sizes and overflow.
std::size_t storage_bytes(const Dims& sizes, Dtype dtype);

// Tells the clock of a simulated machine that the host reads or writes the elements now; nothing for memory that is not
// pinned for it (host_access.cpp).
void announce_host_access(const TensorImpl& impl, bool write);

// The tensor as an operand of a kernel that is launched next: on the host this is its access.
Operand operand_of(const Tensor& tensor, Access access);
// Queues the call on the current stream of the device of `out`, the tensor of operand 0; nothing when that is empty.
void launch(const Tensor& out, const KernelCall& call);

// dst <- src: broadcast, converted, from any device to any other. `cause` is what the trace and the card are told.
void copy_values(const Tensor& dst, const Tensor& src, bool non_blocking, trace::Cause cause);
// A contiguous copy of `src` on its own device, of type `dtype`.
Tensor contiguous_copy(const Tensor& src, Dtype dtype, trace::Cause cause);

}  // namespace labrig
