// Numbers that come from no operand: counted up, or drawn.
#include "ops/schema/schema.hpp"

namespace labrig::schema {

Violation arange_violation(const KernelCall& call) {
  if (operand(call, 0).sizes.count() != 1) return "the output needs one dimension";
  if (operand(call, 0).dtype == Dtype::boolean) return "arange is not defined for bool";
  return std::nullopt;
}

void arange_cost(const KernelCall& call, Counts& counts) { counts.steps = elements(operand(call, 0).sizes); }

Violation random_violation(const KernelCall&) { return "TODO"; }
void random_cost(const KernelCall&, Counts&) {}

}  // namespace labrig::schema
