// Reductions over every dimension in which the output has size 1.
#include <algorithm>

#include "ops/schema/schema.hpp"

namespace labrig::schema {
namespace {

Violation shape_violation(const KernelCall& call) {
  const Operand &out = operand(call, 0), &a = operand(call, 1);
  bool fits = out.sizes.count() == a.sizes.count();
  for (int d = 0; fits && d < a.sizes.count(); ++d) fits = out.sizes[d] == a.sizes[d] || out.sizes[d] == 1;
  if (fits) return std::nullopt;
  return "the output's shape " + shape(out.sizes) + " is not " + shape(a.sizes) + " with some dimensions reduced to 1";
}

// An index counts along one dimension.
Violation argmax_violation(const KernelCall& call) {
  const Operand &out = operand(call, 0), &a = operand(call, 1);
  const std::uint64_t dim = call.scalars[0];
  if (out.dtype != Dtype::i64) return "an index has type i64";
  if (dim >= static_cast<std::uint64_t>(a.sizes.count())) return "there is no dimension " + std::to_string(dim);
  for (int d = 0; d < a.sizes.count(); ++d) {
    if (out.sizes[d] != (d == static_cast<int>(dim) ? 1 : a.sizes[d])) return "an index counts along one dimension";
  }
  return std::nullopt;
}

}  // namespace

Violation reduce_violation(const KernelCall& call) {
  const Operand &out = operand(call, 0), &a = operand(call, 1);
  if (auto violation = shape_violation(call)) return violation;
  switch (call.kernel) {
    case Kernel::sum:
      return keeps_kind(a, 1, out);
    case Kernel::mean:
    case Kernel::norm:
      if (is_floating_point(a.dtype) && is_floating_point(out.dtype)) return std::nullopt;
      return "a " + std::string(name_of(call.kernel)) + " needs floating point types";
    case Kernel::argmax:
      if (auto violation = argmax_violation(call)) return violation;
      break;
    default:
      if (a.dtype != out.dtype) return "the output of a maximum has the type of its input";
  }
  if (elements(a.sizes) == 0 && elements(out.sizes) != 0) return "there is no maximum of no elements";
  return std::nullopt;
}

void reduce_cost(const KernelCall& call, Counts& counts) {
  counts.flops = elements(operand(call, 1).sizes) * (call.kernel == Kernel::norm ? 2 : 1);
  // Of nothing, the outputs are still visited.
  counts.steps = std::max(elements(operand(call, 1).sizes), elements(operand(call, 0).sizes));
  counts.rate = operand(call, 1).dtype;
}

}  // namespace labrig::schema
