// Steps of training: everything that is changed together has one shape and one floating point type.
#include "ops/schema/schema.hpp"

namespace labrig::schema {
namespace {

Violation is_number(const KernelCall& call, int i, Dtype dtype) {
  if (operand(call, i).dtype != dtype) return position(i) + " needs type " + name_of(dtype);
  return has_shape(call, i, {});
}

// Operands from `first` on: one element each, of these types.
Violation are_numbers(const KernelCall& call, int first, std::initializer_list<Dtype> dtypes) {
  for (const Dtype dtype : dtypes) {
    if (auto violation = is_number(call, first++, dtype)) return violation;
  }
  return std::nullopt;
}

}  // namespace

Violation step_violation(const KernelCall& call) {
  if (call.kernel == Kernel::amp_update_scale) return are_numbers(call, 0, {Dtype::f32, Dtype::i32, Dtype::f32});
  if (call.kernel == Kernel::amp_unscale) {
    if (!is_floating_point(operand(call, 0).dtype)) return "operand 0 needs a floating point type";
    return are_numbers(call, 1, {Dtype::f32, Dtype::f32});
  }
  const int last = call.operand_count - 1;
  for (int i = 1; i <= last; ++i) {
    if (auto violation = has_shape(call, i, operand(call, 0).sizes)) return violation;
  }
  if (call.kernel == Kernel::adam_step && static_cast<std::int64_t>(call.scalars[6]) < 1) {
    return "steps are counted from 1";
  }
  return one_float_type(call, 0, last);
}

// Operations for each element, as the formulas have them.
void step_cost(const KernelCall& call, Counts& counts) {
  constexpr int kSgd = 8, kAdam = 16, kUnscale = 2;
  counts.steps = elements(operand(call, 0).sizes);
  counts.flops = counts.steps * (call.kernel == Kernel::sgd_step    ? kSgd
                                 : call.kernel == Kernel::adam_step ? kAdam
                                                                    : kUnscale);
}

}  // namespace labrig::schema
