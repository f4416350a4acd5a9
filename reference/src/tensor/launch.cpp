// From tensors to a kernel call, and the call to the backend of the device that holds its output.
#include "device/thread_state.hpp"
#include "labrig/error.hpp"
#include "tensor/impl.hpp"

namespace labrig {
namespace {

void check_writable(const TensorImpl& impl) {
  for (int d = 0; d < impl.layout.dim(); ++d) {
    if (impl.layout.strides[d] != 0 || impl.layout.sizes[d] < 2) continue;
    throw Error(
        "overlapping-output",
        "unsupported operation: more than one element of the written-to tensor refers to a single memory location. "
        "Please clone() the tensor before performing the operation.",
        "dimension " + std::to_string(d) + " of the tensor of shape " + impl.layout.sizes.str() +
            " is expanded: its elements are one and the same",
        "clone() the tensor before writing to it");
  }
}

void record_launch(const KernelCall& call, Device device, StreamId stream) {
  using trace::Kind, trace::Cause;
  const bool copies = call.kernel == Kernel::copy;
  const Kind kind = !copies ? Kind::launch : device.is_cpu() ? Kind::host_copy : Kind::device_copy;
  const bool hidden = copies && call.scalars[0] != 0;
  std::string name(copies ? call.operands[1].name : name_of(call.kernel));
  trace::record({kind, hidden ? Cause::hidden : Cause::asked, device, stream,
                 static_cast<std::size_t>(cost_of(call).bytes), 0, std::move(name)});
}

// What only moves values needs no arithmetic in their type.
bool computes(Kernel kernel) {
  return kernel != Kernel::fill && kernel != Kernel::copy && kernel != Kernel::masked_fill && kernel != Kernel::where &&
         kernel != Kernel::index;
}

// bf16 is storage everywhere, and arithmetic on cards from compute capability 8.0 on.
void check_bf16(const KernelCall& call, const Backend& backend) {
  if (!computes(call.kernel)) return;
  for (const Operand& operand : call.all()) {
    if (operand.dtype != Dtype::bf16) continue;
    const std::string lacks = backend.lacks_bf16();
    if (lacks.empty()) return;
    throw Error(
        "no-bf16",
        "kernel '" + std::string(name_of(call.kernel)) + "' cannot compute in bf16 on " + backend.device().str(),
        lacks + ", and arithmetic in bf16 needs 8.0; such a card can store and copy bf16, and no more",
        "use f16, with a gradient scaler in training, or f32");
  }
}

}  // namespace

Operand operand_of(const Tensor& tensor, Access access) {
  const TensorImpl& impl = impl_of(tensor);
  const bool writes = access != Access::read;
  if (writes) check_writable(impl);
  announce_host_access(impl, writes);
  return {tensor.data_ptr(), impl.dtype, access, impl.layout.sizes, impl.layout.strides, impl.name};
}

void launch(const Tensor& out, const KernelCall& call) {
  if (out.numel() == 0) return;
  const auto slot = impl_of(out).storage->slot();
  const StreamId stream = slot->device().is_cpu() ? StreamId{0} : current_stream_id(slot->device());
  check_bf16(call, slot->backend());
  if (trace::recording()) record_launch(call, slot->device(), stream);
  slot->backend().launch(call, stream);
}

}  // namespace labrig
