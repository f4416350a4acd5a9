// softmax, log_softmax and their gradients: rows along one dimension, everything of one shape and type.
#include "ops/schema/schema.hpp"

namespace labrig::schema {

Violation softmax_violation(const KernelCall& call) {
  const Dims& sizes = operand(call, 0).sizes;
  if (call.scalars[0] >= static_cast<std::uint64_t>(sizes.count())) {
    return "there is no dimension " + std::to_string(call.scalars[0]);
  }
  for (int i = 1; i < call.operand_count; ++i) {
    if (auto violation = has_shape(call, i, sizes)) return violation;
  }
  return one_float_type(call, 0, call.operand_count - 1);
}

// Forward: the maximum, a difference, its exponential, their sum, a quotient. Backward: a product, its sum, a
// difference, a product.
void softmax_cost(const KernelCall& call, Counts& counts) {
  counts.steps = elements(operand(call, 0).sizes);
  counts.flops = counts.steps * (call.operand_count == 2 ? 5 : 4);
}

}  // namespace labrig::schema
