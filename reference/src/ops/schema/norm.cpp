// layer_norm over x [rows, columns] and batch_norm over x [n, c, s], and their gradients. What an operand must be
// follows from its role:
//
//   d  data: all of one shape and floating point type
//   s  statistics: one a row (or channel), f32 for 16-bit data, else of the data's type
//   p  parameters, and what is kept like them: one a column (or channel), of either of these two types
#include "ops/schema/schema.hpp"

namespace labrig::schema {
namespace {

struct Form {
  std::string_view roles;  // by operand
  int data;                // the first one that is data
  int dims;                // of the data
  int statistics_dim, parameters_dim;
  int flops;  // an element
};

Form form_of(Kernel kernel) {
  switch (kernel) {
    case Kernel::layer_norm:
      return {"dssdpp", 0, 2, 0, 1, 8};
    case Kernel::layer_norm_backward:
      return {"dddpss", 0, 2, 0, 1, 11};
    case Kernel::layer_norm_weight_backward:
      return {"ppddss", 2, 2, 0, 1, 5};
    case Kernel::batch_norm:
      return {"dssppdpp", 0, 3, 1, 1, 8};
    case Kernel::batch_norm_eval:
      return {"ddpppp", 0, 3, 1, 1, 4};
    default:
      return {"dppddppp", 0, 3, 1, 1, 11};
  }
}

Violation type_violation(const Operand& checked, int i, char role, Dtype data) {
  const bool is_short = data == Dtype::f16 || data == Dtype::bf16;
  const Dtype statistics = is_short ? Dtype::f32 : data;
  if (checked.dtype == (role == 's' ? statistics : data)) return std::nullopt;
  if (role == 'p' && checked.dtype == statistics) return std::nullopt;
  return position(i) + " of type " + name_of(checked.dtype) + " does not go with data of type " + name_of(data);
}

}  // namespace

Violation norm_violation(const KernelCall& call) {
  const Form form = form_of(call.kernel);
  const Operand& data = operand(call, form.data);
  if (data.sizes.count() != form.dims) return "the data needs " + std::to_string(form.dims) + " dimensions";
  if (!is_floating_point(data.dtype)) return "the data needs a floating point type";
  const Dims statistics{data.sizes[form.statistics_dim]}, parameters{data.sizes[form.parameters_dim]};
  for (int i = 0; i < call.operand_count; ++i) {
    const char role = form.roles[static_cast<std::size_t>(i)];
    const Dims& sizes = role == 'd' ? data.sizes : role == 's' ? statistics : parameters;
    if (auto violation = has_shape(call, i, sizes)) return violation;
    if (operand(call, i).sizes != sizes) continue;  // absent, of no type
    if (auto violation = type_violation(operand(call, i), i, role, data.dtype)) return violation;
  }
  return std::nullopt;
}

void norm_cost(const KernelCall& call, Counts& counts) {
  const Form form = form_of(call.kernel);
  counts.steps = elements(operand(call, form.data).sizes);
  counts.flops = counts.steps * form.flops;
  counts.rate = operand(call, form.data).dtype;
}

}  // namespace labrig::schema
