// Products of matrices.
#include <tuple>

#include "ops/schema/schema.hpp"

namespace labrig::schema {

Violation matmul_violation(const KernelCall& call) {
  const auto& [out, a, b] = std::tie(call.operands[0], call.operands[1], call.operands[2]);
  if (out.sizes.count() != 2 || a.sizes.count() != 2 || b.sizes.count() != 2) return "all operands need two dimensions";
  if (a.sizes[1] != b.sizes[0] || out.sizes[0] != a.sizes[0] || out.sizes[1] != b.sizes[1]) {
    return "shapes " + shape(a.sizes) + " x " + shape(b.sizes) + " -> " + shape(out.sizes) + " do not fit together";
  }
  if (!is_floating_point(out.dtype) || a.dtype != out.dtype || b.dtype != out.dtype) {
    return "all operands need one and the same floating point type";
  }
  return std::nullopt;
}

void matmul_cost(const KernelCall& call, Counts& counts) {
  counts.steps = elements(operand(call, 0).sizes) * operand(call, 1).sizes[1];
  counts.flops = 2 * counts.steps;
  counts.matrix = true;
}

}  // namespace labrig::schema
