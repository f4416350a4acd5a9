// Reductions over every dimension in which the output has size 1.
#include "ops/schema/schema.hpp"

namespace labrig::schema {

Violation reduce_violation(const KernelCall& call) {
  const Operand& out = call.operands[0];
  const Operand& a = call.operands[1];
  const std::uint64_t dim = call.scalars[0];
  if (dim >= static_cast<std::uint64_t>(a.sizes.count())) return "there is no dimension " + std::to_string(dim);
  const int reduced = static_cast<int>(dim);
  bool fits = out.sizes.count() == a.sizes.count();
  for (int d = 0; fits && d < a.sizes.count(); ++d) fits = out.sizes[d] == (d == reduced ? 1 : a.sizes[d]);
  if (!fits)
    return "the output's shape " + shape(out.sizes) + " is not " + shape(a.sizes) + " with the dimension reduced to 1";
  if (call.kernel == Kernel::sum) return keeps_kind(a, 1, out);
  if (call.kernel == Kernel::mean) {
    if (!is_floating_point(a.dtype) || !is_floating_point(out.dtype)) return "a mean needs floating point types";
    return std::nullopt;
  }
  if (a.dtype != out.dtype) return "the output of a maximum has the type of its input";
  if (a.sizes[reduced] == 0 && elements(out.sizes) != 0) return "there is no maximum of no elements";
  return std::nullopt;
}

void reduce_cost(const KernelCall& call, Counts& counts) {
  counts.steps = counts.flops = elements(operand(call, 1).sizes);
  counts.rate = operand(call, 1).dtype;
}

}  // namespace labrig::schema
