// Numbers that come from no operand: counted up, or drawn.
#include "ops/schema/schema.hpp"

namespace labrig::schema {

Violation arange_violation(const KernelCall& call) {
  if (operand(call, 0).sizes.count() != 1) return "the output needs one dimension";
  if (operand(call, 0).dtype == Dtype::boolean) return "arange is not defined for bool";
  return std::nullopt;
}

void arange_cost(const KernelCall& call, Counts& counts) { counts.steps = elements(operand(call, 0).sizes); }

Violation random_violation(const KernelCall& call) {
  const Dtype dtype = operand(call, 0).dtype;
  if (call.kernel == Kernel::random_integers) {
    if (dtype == Dtype::boolean) return "random_integers is not defined for bool";
    const auto low = static_cast<std::int64_t>(call.scalars[0]), high = static_cast<std::int64_t>(call.scalars[1]);
    if (low >= high) return "the lower bound must be below the upper one";
    return std::nullopt;
  }
  if (!is_floating_point(dtype)) return std::string(name_of(call.kernel)) + " needs a floating point type";
  const double first = scalar_value(call.scalars[0]), second = scalar_value(call.scalars[1]);
  if (call.kernel == Kernel::uniform && !(first <= second)) return "the lower bound must not be above the upper one";
  if (call.kernel == Kernel::normal && !(second >= 0)) return "the standard deviation must not be below 0";
  return std::nullopt;
}

// Operations for each element, roughly: Philox thirty, the normal distribution's rational functions as many again.
void random_cost(const KernelCall& call, Counts& counts) {
  counts.steps = elements(operand(call, 0).sizes);
  counts.flops = counts.steps * (call.kernel == Kernel::normal ? 60 : 30);
}

}  // namespace labrig::schema
