// Types of results, overlap of operands, and the call of a kernel.
#include "ops/operands.hpp"

#include <algorithm>

#include "labrig/error.hpp"
#include "tensor/names.hpp"

namespace labrig {
namespace {

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

}  // namespace

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
