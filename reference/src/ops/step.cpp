// Checks in front of the steps of training.
#include "ops/step.hpp"

#include <string>

#include "graph/node.hpp"
#include "labrig/error.hpp"
#include "ops/operands.hpp"

namespace labrig {
namespace {

// All have the device of the first; also what has no dimensions.
void check_one_device(const char* op, const NamedOperands& operands) {
  common_device(op, operands);
  const NamedOperand& first = operands.front();
  for (const NamedOperand& operand : operands) {
    if (operand.tensor->device() == first.tensor->device()) continue;
    throw Error("device-mismatch",
                "Expected all tensors to be on the same device, but found at least two devices, " +
                    first.tensor->device().str() + " and " + operand.tensor->device().str() + "!",
                std::string(op) + ": " + described(first) + "; " + described(operand),
                "move the model to its device before the optimizer is made, and state that was loaded to that of the "
                "parameter");
  }
}

// All have the shape and the floating point type of the first, and its device.
void check_alike(const char* op, const NamedOperands& operands) {
  check_one_device(op, operands);
  const NamedOperand& first = operands.front();
  for (const NamedOperand& operand : operands) {
    const bool same_type = operand.tensor->dtype() == first.tensor->dtype();
    if (same_type && operand.tensor->sizes() == first.tensor->sizes() && is_floating_point(first.tensor->dtype())) {
      continue;
    }
    throw Error(
        same_type ? "shape-mismatch" : "dtype-mismatch",
        std::string(op) + " cannot change a " + first.role + " by a " + operand.role + " of another shape or type",
        described(first) + "; " + described(operand),
        "make the optimizer anew after a parameter has changed its shape or type");
  }
}

void check_number(const char* op, const NamedOperand& operand, Dtype dtype) {
  if (impl_of(*operand.tensor).dtype == dtype && operand.tensor->dim() == 0) return;
  throw Error(
      "dtype-mismatch",
      std::string(op) + ": " + operand.role + " must be a tensor of type " + name_of(dtype) + " without dimensions",
      described(operand), std::string("make it as full({}, value, ") + name_of(dtype) + ")");
}

}  // namespace

void sgd_step(const Tensor& parameter, const Tensor& buffer, const Tensor& gradient, const SgdStep& step) {
  check_alike("sgd_step", {{"parameter", &parameter},
                           {"momentum buffer", buffer.defined() ? &buffer : &parameter},
                           {"gradient", &gradient}});
  run(Kernel::sgd_step, {&parameter, &buffer, &gradient},
      {scalar_bits(step.lr), scalar_bits(step.momentum), scalar_bits(step.dampening), scalar_bits(step.weight_decay),
       step.nesterov ? 1u : 0u, step.first ? 1u : 0u});
  graph::changed_in_place(parameter);
  if (buffer.defined()) graph::changed_in_place(buffer);
}

void adam_step(const Tensor& parameter, const Tensor& average, const Tensor& average_of_squares, const Tensor& gradient,
               const AdamStep& step) {
  check_alike("adam_step", {{"parameter", &parameter},
                            {"running average", &average},
                            {"running average of squares", &average_of_squares},
                            {"gradient", &gradient}});
  run(Kernel::adam_step, {&parameter, &average, &average_of_squares, &gradient},
      {scalar_bits(step.lr), scalar_bits(step.beta1), scalar_bits(step.beta2), scalar_bits(step.eps),
       scalar_bits(step.weight_decay), step.decoupled ? 1u : 0u, static_cast<std::uint64_t>(step.step)});
  for (const Tensor* changed : {&parameter, &average, &average_of_squares}) graph::changed_in_place(*changed);
}

void amp_unscale(const Tensor& gradient, const Tensor& found_inf, const Tensor& inverse_scale) {
  check_one_device("amp_unscale",
                   {{"gradient", &gradient}, {"found_inf", &found_inf}, {"inverse scale", &inverse_scale}});
  check_number("amp_unscale", {"found_inf", &found_inf}, kF32);
  check_number("amp_unscale", {"inverse scale", &inverse_scale}, kF32);
  check_can_cast(kF32, gradient.dtype());
  run(Kernel::amp_unscale, {&gradient, &found_inf, &inverse_scale});
  graph::changed_in_place(gradient);
  graph::changed_in_place(found_inf);
}

void amp_update_scale(const Tensor& scale, const Tensor& tracker, const Tensor& found_inf, const ScaleUpdate& update) {
  check_one_device("amp_update_scale", {{"scale", &scale}, {"growth tracker", &tracker}, {"found_inf", &found_inf}});
  check_number("amp_update_scale", {"scale", &scale}, kF32);
  check_number("amp_update_scale", {"growth tracker", &tracker}, kI32);
  check_number("amp_update_scale", {"found_inf", &found_inf}, kF32);
  run(Kernel::amp_update_scale, {&scale, &tracker, &found_inf},
      {scalar_bits(update.growth), scalar_bits(update.backoff), static_cast<std::uint64_t>(update.interval)});
  graph::changed_in_place(scale);
  graph::changed_in_place(tracker);
}

}  // namespace labrig
