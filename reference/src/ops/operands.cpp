// The checks in front of every operator.
#include "ops/operands.hpp"

#include <algorithm>
#include <optional>

#include "labrig/error.hpp"
#include "tensor/names.hpp"

namespace labrig {
namespace {

// "mat2 'weights' is f32[3, 4] on cpu"
std::string described(const NamedOperand& operand) {
  const Tensor& tensor = *operand.tensor;
  std::string text = operand.role;
  if (!tensor.name().empty()) text += " '" + tensor.name() + "'";
  return text + " is " + name_of(tensor.dtype()) + tensor.sizes().str() + " on " + tensor.device().str();
}

Error device_mismatch(const char* op, std::string what, const NamedOperands& operands) {
  std::string why = std::string(op) + " works on one device: ";
  const NamedOperand* on_host = nullptr;
  Device card;
  for (const NamedOperand& operand : operands) {
    if (&operand != &operands.front()) why += "; ";
    why += described(operand);
    if (operand.tensor->device().is_cpu())
      on_host = on_host ? on_host : &operand;
    else if (card.is_cpu())
      card = operand.tensor->device();
  }
  std::string fix = "move the operands to one device with .to(), before the loop if they are used again";
  if (on_host) {
    fix = "move " + std::string(on_host->role) + " with .to(\"" + card.str() +
          "\"), before the loop if it is used again; moving the others back to the CPU costs more";
  }
  return Error("device-mismatch", std::move(what), std::move(why), std::move(fix));
}

// bool < integer < floating point
int kind_of(Dtype dtype) { return dtype == kBool ? 0 : is_floating_point(dtype) ? 2 : 1; }

// PyTorch's rule for an operand of a lower rank (0-dim tensor, number): it counts only by its kind.
Dtype combine(Dtype higher, Dtype lower) {
  if (kind_of(lower) <= kind_of(higher)) return higher;
  return promote_types(higher, lower);
}

struct Bytes {
  const std::byte *begin, *end;
};
Bytes bytes_of(const Tensor& tensor) {
  const auto* begin = static_cast<const std::byte*>(tensor.data_ptr());
  return {begin, begin + tensor.layout().span_elements() * static_cast<std::int64_t>(element_bytes(tensor.dtype()))};
}

bool is_dense(const Layout& layout) { return layout.span_elements() == layout.numel(); }

// Both read and written, but not element for element. Interleaved views (even and odd columns) share a range of
// addresses and no element; they are let through.
void check_overlap(const Tensor& out, const Tensor& input) {
  if (impl_of(out).storage != impl_of(input).storage || out.numel() == 0 || input.numel() == 0) return;
  const Layout &to = out.layout(), &from = input.layout();
  if (to.offset == from.offset && to.sizes == from.sizes && to.strides == from.strides) return;
  const Bytes written = bytes_of(out), read = bytes_of(input);
  if (written.end <= read.begin || read.end <= written.begin || !is_dense(to) || !is_dense(from)) return;
  throw Error("partial-overlap",
              "unsupported operation: some elements of the input tensor and the written-to tensor refer to a single "
              "memory location. Please clone() the tensor before performing the operation.",
              "the result would depend on which element is written first", "clone() the input");
}

}  // namespace

Device common_device(const char* op, const NamedOperands& operands) {
  Device common;
  for (const NamedOperand& operand : operands) {
    impl_of(*operand.tensor);
    if (common.is_cpu()) common = operand.tensor->device();
  }
  for (const NamedOperand& operand : operands) {
    const Device device = operand.tensor->device();
    if (device == common || is_number_for(common, *operand.tensor)) continue;
    throw device_mismatch(op,
                          "Expected all tensors to be on the same device, but found at least two devices, " +
                              common.str() + " and " + device.str() + "!",
                          operands);
  }
  return common;
}

Device matmul_device(const Tensor& mat1, const Tensor& mat2) {
  const Device device = impl_of(mat1).storage->device(), other = impl_of(mat2).storage->device();
  if (device == other) return device;
  throw device_mismatch("matmul",
                        "Expected all tensors to be on the same device, but got mat2 is on " + other.str() +
                            ", different from other tensors on " + device.str() +
                            " (when checking argument in method wrapper_CUDA_mm)",
                        {{"mat1", &mat1}, {"mat2", &mat2}});
}

bool is_number_for(Device device, const Tensor& tensor) {
  return !device.is_cpu() && tensor.device().is_cpu() && tensor.dim() == 0;
}

Dtype result_type(const Tensor& a, const Tensor& b) {
  if ((a.dim() == 0) == (b.dim() == 0)) return promote_types(a.dtype(), b.dtype());
  return a.dim() > 0 ? combine(a.dtype(), b.dtype()) : combine(b.dtype(), a.dtype());
}

Dtype result_type(const Tensor& a, Scalar b) { return combine(a.dtype(), b.dtype()); }

void check_can_cast(Dtype from, Dtype to) {
  if (kind_of(from) <= kind_of(to)) return;
  throw Error("result-type",
              std::string("result type ") + torch_type_name(from) + " can't be cast to the desired output type " +
                  torch_type_name(to),
              std::string("the operation gives ") + name_of(from) + ", and an in-place operation must keep the type " +
                  name_of(to) + " of the tensor that it changes",
              "use the operation that returns a new tensor, or convert the tensor first");
}

void run(Kernel kernel, std::initializer_list<const Tensor*> tensors, std::initializer_list<std::uint64_t> scalars) {
  KernelCall call;
  call.kernel = kernel;
  const int outputs = outputs_of(kernel);
  for (const Tensor* tensor : tensors) {
    const int i = call.operand_count;
    const Access access = access_of(kernel, i);
    for (int o = 0; tensor->defined() && i >= outputs && o < outputs; ++o) {
      const Tensor& output = **(tensors.begin() + o);
      if (output.defined()) check_overlap(output, *tensor);
    }
    call.push(tensor->defined() ? operand_of(*tensor, access) : absent_operand(access));
  }
  std::copy(scalars.begin(), scalars.end(), call.scalars.begin());
  launch(**tensors.begin(), call);
}

}  // namespace labrig
