// nll_loss over log probabilities [n, c, s] and targets [n, s], and its gradient. What the targets are is not known
// here: the kernels look at each before they use it.
#include "ops/schema/schema.hpp"

namespace labrig::schema {
namespace {

// Where the operands of both kernels are.
struct Places {
  int values, target, weight, total, loss;  // values: log probabilities or their gradient; loss: it, or its gradient
};
Places places_of(Kernel kernel) { return kernel == Kernel::nll_loss ? Places{2, 3, 4, 1, 0} : Places{0, 2, 3, 4, 1}; }

}  // namespace

Violation nll_loss_violation(const KernelCall& call) {
  const Places at = places_of(call.kernel);
  const Dims& sizes = operand(call, at.values).sizes;
  if (sizes.count() != 3) return "log probabilities need three dimensions";
  if (call.scalars[0] > 2) return "there is no reduction " + std::to_string(call.scalars[0]);
  const Dims targets{sizes[0], sizes[2]};
  if (auto violation = has_shape(call, at.target, targets)) return violation;
  if (operand(call, at.target).dtype != Dtype::i64) return "targets have type i64";
  if (auto violation = has_shape(call, at.loss, call.scalars[0] == 0 ? targets : Dims{})) return violation;
  if (auto violation = has_shape(call, at.total, {})) return violation;
  if (auto violation = has_shape(call, at.weight, {sizes[1]})) return violation;
  const Dtype dtype = operand(call, at.values).dtype;
  if (!is_floating_point(dtype)) return "log probabilities need a floating point type";
  for (const int i : {at.loss, at.total, at.weight}) {
    if (!is_absent(operand(call, i)) && operand(call, i).dtype != dtype) {
      return position(i) + " has type " + name_of(operand(call, i).dtype) + " in place of " + name_of(dtype);
    }
  }
  return std::nullopt;
}

// Forward, one log probability a target is read, not all of them.
void nll_loss_cost(const KernelCall& call, Counts& counts) {
  const Places at = places_of(call.kernel);
  const Operand &values = operand(call, at.values), &target = operand(call, at.target);
  const Wide targets = elements(target.sizes);
  const auto element = static_cast<Wide>(element_bytes(values.dtype));
  counts.flops = 2 * targets;
  counts.steps = targets;
  if (call.kernel == Kernel::nll_loss_backward) {
    counts.steps = elements(values.sizes);
    return;
  }
  const Wide read = targets * (element + static_cast<Wide>(element_bytes(target.dtype)));
  counts.bytes =
      read + element * (elements(operand(call, at.weight).sizes) + elements(operand(call, at.loss).sizes) + 1);
}

}  // namespace labrig::schema
