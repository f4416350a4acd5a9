// Batch normalisation with its running statistics: which of the two means and variances is used, and when.
#include "labrig/autograd.hpp"
#include "labrig/error.hpp"
#include "labrig/nn.hpp"

namespace labrig::nn {
namespace {

Error wrong_dimensions(const std::string& expected, const Tensor& x, const std::string& shape) {
  return Error("invalid-shape", "expected " + expected + " input (got " + std::to_string(x.dim()) + "D input)",
               "channels are dimension 1 of " + shape, "reshape the input to that");
}

}  // namespace

BatchNorm::BatchNorm(std::int64_t channels, BatchNormOptions norm, Options options) : norm_(norm) {
  weight = register_parameter("weight", norm.affine ? ones({channels}, options) : Tensor());
  bias = register_parameter("bias", norm.affine ? zeros({channels}, options) : Tensor());
  if (!norm.track_running_stats) return;
  running_mean = register_buffer("running_mean", zeros({channels}, options));
  running_var = register_buffer("running_var", ones({channels}, options));
  num_batches_tracked = register_buffer("num_batches_tracked", zeros({}, {kI64, options.device}));
}

Tensor BatchNorm::forward(const Tensor& x) {
  check_dimensions(x);
  const bool counts = is_training() && norm_.track_running_stats;
  double momentum = norm_.momentum.value_or(0);
  if (counts) {
    const NoGradGuard guard;
    add_(num_batches_tracked, 1);
    if (!norm_.momentum) momentum = 1 / num_batches_tracked.item();
  }
  const bool of_the_batch = is_training() || !norm_.track_running_stats;
  return batch_norm(x, running_mean, running_var, weight, bias, of_the_batch, momentum, norm_.eps);
}

void BatchNorm1d::check_dimensions(const Tensor& x) const {
  if (x.dim() != 2 && x.dim() != 3) throw wrong_dimensions("2D or 3D", x, "[n, c] or [n, c, length]");
}

void BatchNorm2d::check_dimensions(const Tensor& x) const {
  if (x.dim() != 4) throw wrong_dimensions("4D", x, "[n, c, h, w]");
}

}  // namespace labrig::nn
