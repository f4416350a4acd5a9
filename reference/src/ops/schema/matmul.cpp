// Products of matrices: one, a batch, and a layer's, which reads its weight [o, i] transposed and adds a bias.
#include "ops/schema/schema.hpp"

namespace labrig::schema {
namespace {

Violation two_matrices(const KernelCall& call, int batch_dims) {
  const Operand &out = operand(call, 0), &a = operand(call, 1), &b = operand(call, 2);
  const int row = batch_dims, column = batch_dims + 1;
  for (const Operand* checked : {&out, &a, &b}) {
    if (checked->sizes.count() == batch_dims + 2) continue;
    return batch_dims == 0 ? "all operands need two dimensions" : "all operands need three dimensions";
  }
  const bool batch_fits = batch_dims == 0 || (a.sizes[0] == out.sizes[0] && b.sizes[0] == out.sizes[0]);
  if (!batch_fits || a.sizes[column] != b.sizes[row] || out.sizes[row] != a.sizes[row] ||
      out.sizes[column] != b.sizes[column]) {
    return "shapes " + shape(a.sizes) + " x " + shape(b.sizes) + " -> " + shape(out.sizes) + " do not fit together";
  }
  return std::nullopt;
}

Violation layer(const KernelCall& call) {
  const Operand &out = operand(call, 0), &x = operand(call, 1), &weight = operand(call, 2);
  if (out.sizes.count() != 2 || x.sizes.count() != 2 || weight.sizes.count() != 2) {
    return "output, input and weight need two dimensions";
  }
  if (out.sizes[0] != x.sizes[0] || out.sizes[1] != weight.sizes[0] || x.sizes[1] != weight.sizes[1]) {
    return "shapes " + shape(x.sizes) + " x transposed " + shape(weight.sizes) + " -> " + shape(out.sizes) +
           " do not fit together";
  }
  return has_shape(call, 3, {weight.sizes[0]});
}

}  // namespace

Violation matmul_violation(const KernelCall& call) {
  const bool is_layer = call.kernel == Kernel::linear;
  if (auto violation = is_layer ? layer(call) : two_matrices(call, call.kernel == Kernel::bmm ? 1 : 0)) {
    return violation;
  }
  if (one_float_type(call, 0, call.operand_count - 1)) {
    return "all operands need one and the same floating point type";
  }
  return std::nullopt;
}

void matmul_cost(const KernelCall& call, Counts& counts) {
  const Wide outputs = elements(operand(call, 0).sizes);
  const Dims& a = operand(call, 1).sizes;
  const Wide products = outputs * a[a.count() - 1];
  counts.steps = products + (a[a.count() - 1] == 0 ? outputs : 0);  // sums of nothing are still written
  counts.flops = 2 * products;
  if (call.kernel == Kernel::linear && !is_absent(operand(call, 3))) counts.flops += outputs;
  counts.matrix = true;
}

}  // namespace labrig::schema
