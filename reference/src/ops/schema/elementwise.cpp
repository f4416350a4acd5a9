// Elementwise kernels: inputs broadcast to the shape of the output, and are converted to its type.
#include "ops/schema/schema.hpp"

namespace labrig::schema {

Violation elementwise_violation(const KernelCall& call) {
  const Operand& out = operand(call, 0);
  if (auto violation = inputs_broadcast(call)) return violation;
  if (call.kernel == Kernel::copy) return std::nullopt;  // converts anything to anything
  const bool masked = call.kernel == Kernel::masked_fill;
  for (int i = 1; i < call.operand_count - (masked ? 1 : 0); ++i) {
    if (auto violation = keeps_kind(call.operands[static_cast<std::size_t>(i)], i, out)) return violation;
  }
  if (masked && call.operands[2].dtype != Dtype::boolean) return "the mask must be of type bool";
  const bool divides = call.kernel == Kernel::div || call.kernel == Kernel::div_scalar;
  if (divides && !is_floating_point(out.dtype)) return "a division needs an output of a floating point type";
  const bool no_bool = call.kernel == Kernel::sub || call.kernel == Kernel::sub_scalar || call.kernel == Kernel::neg ||
                       call.kernel == Kernel::relu;
  if (no_bool && out.dtype == Dtype::boolean) return std::string(name_of(call.kernel)) + " is not defined for bool";
  return std::nullopt;
}

void elementwise_cost(const KernelCall& call, Counts& counts) {
  counts.steps = elements(operand(call, 0).sizes);
  counts.flops = call.kernel == Kernel::fill || call.kernel == Kernel::copy ? 0 : counts.steps;
}

}  // namespace labrig::schema
