// Gradients of many parameters at once: letting them go, and limits before a step (torch.nn.utils.clip_grad_norm_ and
// clip_grad_value_).
#include "nn/gradients.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "labrig/autograd.hpp"
#include "labrig/error.hpp"
#include "labrig/module.hpp"
#include "labrig/ops.hpp"

namespace labrig::nn {

void zero_gradients(const std::vector<Tensor>& parameters, bool set_to_none) {
  const NoGradGuard guard;
  for (const Tensor& parameter : parameters) {
    const Tensor gradient = parameter.grad();
    if (!gradient.defined()) continue;
    if (set_to_none) {
      parameter.set_grad({});
    } else {
      gradient.is_leaf() ? gradient.requires_grad_(false) : gradient.detach_();
      gradient.zero_();
    }
  }
}

namespace utils {
namespace {

std::vector<Tensor> gradients_of(const std::vector<Tensor>& parameters) {
  std::vector<Tensor> gradients;
  for (const Tensor& parameter : parameters) {
    if (Tensor gradient = parameter.grad(); gradient.defined()) gradients.push_back(std::move(gradient));
  }
  return gradients;
}

// The norm of all: that of the norms of each.
Tensor total_norm(const std::vector<Tensor>& gradients) {
  std::vector<Tensor> norms;
  for (const Tensor& gradient : gradients) norms.push_back(norm(gradient).to(gradients[0].device()));
  return norm(stack(norms));
}

void check_finite(const Tensor& total) {
  if (std::isfinite(total.item())) return;
  throw Error("not-finite",
              "The total norm of order 2.0 for gradients from `parameters` is non-finite, so it cannot be clipped. To "
              "disable this error and scale the gradients by the non-finite norm anyway, set "
              "`error_if_nonfinite=False`",
              "a gradient holds an infinity or NaN, or the sum of the squares is too large for its type",
              "look for the first loss that is not finite; with a GradScaler call unscale_() before, and let it skip "
              "the step");
}

}  // namespace

Tensor clip_grad_norm_(const std::vector<Tensor>& parameters, double max_norm, bool error_if_nonfinite) {
  const NoGradGuard guard;
  const std::vector<Tensor> gradients = gradients_of(parameters);
  if (gradients.empty()) return zeros({});
  const Tensor total = total_norm(gradients);
  if (error_if_nonfinite) check_finite(total);
  // max_norm / (total + 1e-6), at most 1; multiplied in without a look at it, so that the host does not wait.
  const Tensor number = full({}, max_norm, {total.dtype(), total.device()});
  const Tensor factor = clamp(div(number, add(total, 1e-6)), -std::numeric_limits<double>::infinity(), 1);
  for (const Tensor& gradient : gradients) mul_(gradient, factor.to(gradient.device()));
  return total;
}

void clip_grad_value_(const std::vector<Tensor>& parameters, double limit) {
  const NoGradGuard guard;
  for (const Tensor& gradient : gradients_of(parameters)) clamp_(gradient, -limit, limit);
}

}  // namespace utils
}  // namespace labrig::nn
