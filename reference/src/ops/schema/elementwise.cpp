// Elementwise kernels: inputs broadcast to the shape of the output, and are converted to its type.
#include "ops/schema/schema.hpp"

namespace labrig::schema {
namespace {

bool is_between(Kernel kernel, Kernel first, Kernel last) { return first <= kernel && kernel <= last; }

// Kernels whose result is no whole number.
bool needs_float(Kernel kernel) {
  using enum Kernel;
  return kernel == div || kernel == div_scalar || is_between(kernel, exp, gelu) ||
         is_between(kernel, relu_backward, clamp_backward) || is_between(kernel, dropout, bce_with_logits_backward);
}

bool refuses_bool(Kernel kernel) {
  using enum Kernel;
  return kernel == sub || kernel == sub_scalar || kernel == neg || kernel == relu || kernel == clamp;
}

// The operand that says where, or -1.
int mask_of(Kernel kernel) { return kernel == Kernel::masked_fill ? 2 : kernel == Kernel::where ? 1 : -1; }

// Operations on one element, roughly: a function that no instruction computes counts as ten, Philox as thirty.
int flops_of(Kernel kernel) {
  using enum Kernel;
  constexpr int kFunction = 10, kPhilox = 30;
  if (kernel == fill || kernel == copy) return 0;
  if (is_between(kernel, exp, sigmoid)) return kernel == sqrt ? 1 : kFunction;
  if (kernel == gelu || kernel == gelu_backward) return 2 * kFunction;
  if (kernel == bce_with_logits || kernel == bce_with_logits_backward) return 2 * kFunction;
  if (kernel == dropout) return kPhilox;
  return is_between(kernel, sqrt_backward, sigmoid_backward) || is_between(kernel, mse_loss, mse_loss_backward) ? 3 : 1;
}

}  // namespace

Violation elementwise_violation(const KernelCall& call) {
  const Operand& out = operand(call, 0);
  if (auto violation = inputs_broadcast(call)) return violation;
  if (call.kernel == Kernel::copy) return std::nullopt;  // converts anything to anything
  if (is_between(call.kernel, Kernel::eq, Kernel::ge)) {
    if (out.dtype != Dtype::boolean) return "a comparison needs an output of type bool";
    return std::nullopt;
  }
  const int mask = mask_of(call.kernel);
  for (int i = 1; i < call.operand_count; ++i) {
    if (i == mask && operand(call, i).dtype != Dtype::boolean) return "the mask must be of type bool";
    if (i == mask) continue;
    if (auto violation = keeps_kind(operand(call, i), i, out)) return violation;
  }
  const std::string name(name_of(call.kernel));
  if (needs_float(call.kernel) && !is_floating_point(out.dtype)) {
    return name + " needs an output of a floating point type";
  }
  if (refuses_bool(call.kernel) && out.dtype == Dtype::boolean) return name + " is not defined for bool";
  if (call.kernel == Kernel::dropout) {
    const double p = scalar_value(call.scalars[0]);
    if (!(p >= 0 && p <= 1)) return "the probability must lie between 0 and 1";
  }
  return std::nullopt;
}

void elementwise_cost(const KernelCall& call, Counts& counts) {
  counts.steps = elements(operand(call, 0).sizes);
  counts.flops = counts.steps * flops_of(call.kernel);
}

}  // namespace labrig::schema
