// From a kernel's number to its code, and what happens when an input overlaps the output.
#include <cstring>
#include <vector>

#include "card/byte_ranges.hpp"
#include "card/kernels/kernels.hpp"
#include "ops/elementwise_kernels.hpp"

namespace labrig::sim {
namespace {

bool overlap(const Operand& a, const Operand& b) {
  const auto* first = static_cast<const std::byte*>(a.data);
  const auto* second = static_cast<const std::byte*>(b.data);
  return first < second + extent_bytes(b) && second < first + extent_bytes(a);
}

// In place: every element of the input lies under the element of the output that it is for.
bool in_place(const Operand& input, const Operand& out) {
  return input.data == out.data && input.dtype == out.dtype && input.sizes == out.sizes && input.strides == out.strides;
}

void dispatch_kernel(const KernelCall& call) {
  switch (call.kernel) {
    case Kernel::fill:
      return kernels::fill(call);
    case Kernel::copy:
      return kernels::copy(call);
    case Kernel::add:
    case Kernel::sub:
    case Kernel::mul:
    case Kernel::div:
      return kernels::binary(call);
    case Kernel::add_scalar:
    case Kernel::sub_scalar:
    case Kernel::mul_scalar:
    case Kernel::div_scalar:
      return kernels::with_scalar(call);
    case Kernel::relu:
      return kernels::relu(call);
    case Kernel::neg:
      return kernels::neg(call);
    case Kernel::masked_fill:
      return kernels::masked_fill(call);
    case Kernel::matmul:
      return run_matmul(call);
    case Kernel::sum:
    case Kernel::mean:
    case Kernel::max:
      return run_reduction(call);
    case Kernel::arange:
      return kernels::arange(call);
  }
}

}  // namespace

void run_kernel(const KernelCall& call) {
  const Operand& out = call.operands[0];
  if (extent_bytes(out) == 0) return;
  const bool elementwise = call.kernel < Kernel::matmul;
  KernelCall apart = call;
  std::vector<std::vector<std::byte>> copies;
  for (int i = 1; i < call.operand_count; ++i) {
    Operand& input = apart.operands[static_cast<std::size_t>(i)];
    if (!overlap(input, out) || (elementwise && in_place(input, out))) continue;
    const auto* from = static_cast<const std::byte*>(input.data);
    copies.emplace_back(from, from + extent_bytes(input));
    input.data = copies.back().data();
  }
  dispatch_kernel(apart);
}

}  // namespace labrig::sim
