// Lab 04, amp: the reference solution. Products run in 16 bits, losses and sums in f32; the parameters stay f32 and are
// cast once a step; the loss is scaled where 16 bits means f16.
#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <vector>

#include "interface.hpp"
#include "labrig/autograd.hpp"

using labrig::Device;
using labrig::Dtype;
using labrig::Tensor;
using labrig::optim::Optimizer;
using namespace amp_lab;

namespace {

std::vector<Tensor> gradients_of(const Optimizer& optimizer) {
  std::vector<Tensor> gradients;
  for (const auto& group : optimizer.param_groups())
    for (const Tensor& parameter : group.params)
      if (const Tensor gradient = parameter.grad(); gradient.defined()) gradients.push_back(gradient);
  return gradients;
}

// A sum is finite only where all that was summed is. One wait for all gradients.
bool all_finite(const std::vector<Tensor>& gradients) {
  if (gradients.empty()) return true;
  std::vector<Tensor> sums;
  for (const Tensor& gradient : gradients) sums.push_back(labrig::sum(gradient));
  return std::isfinite(labrig::sum(labrig::stack(sums)).item());
}

class LossScaler : public Scaler {
 public:
  explicit LossScaler(const ScalerOptions& options) : state_{options, options.init_scale, 0} {}

  Tensor scale(const Tensor& loss) override { return labrig::mul(loss, state_.scale); }

  void unscale(Optimizer& optimizer) override {
    const labrig::NoGradGuard no_grad;
    const std::vector<Tensor> gradients = gradients_of(optimizer);
    for (const Tensor& gradient : gradients) labrig::mul_(gradient, 1 / state_.scale);
    finite_[&optimizer] = all_finite(gradients);
  }

  bool step(Optimizer& optimizer) override {
    if (!finite_.contains(&optimizer)) unscale(optimizer);
    if (finite_[&optimizer]) optimizer.step();
    return finite_[&optimizer];
  }

  void update() override {
    const bool good = std::ranges::all_of(finite_, [](const auto& entry) { return entry.second; });
    finite_.clear();
    if (!good) {
      set_scale(state_.scale * state_.options.backoff_factor);
    } else if (++state_.growth_tracker == state_.options.growth_interval) {
      const double grown = state_.scale * state_.options.growth_factor;
      set_scale(std::isfinite(static_cast<float>(grown)) ? grown : state_.scale);
    }
  }

  ScalerState state() const override { return state_; }
  void load(const ScalerState& state) override { state_ = state; }

 private:
  void set_scale(double scale) {
    state_.scale = static_cast<float>(scale);
    state_.growth_tracker = 0;
  }

  ScalerState state_;
  std::map<const Optimizer*, bool> finite_;  // of the optimizers that were unscaled in this iteration
};

// Multiplies all gradients by one factor, so that their norm is at most max_norm. The factor stays on the device.
void clip(const std::vector<Tensor>& gradients, double max_norm) {
  const labrig::NoGradGuard no_grad;
  std::vector<Tensor> norms;
  for (const Tensor& gradient : gradients) norms.push_back(labrig::norm(gradient));
  const Tensor factor = labrig::clamp(
      labrig::div(labrig::full({}, max_norm, gradients[0].device()), labrig::norm(labrig::stack(norms))), 0, 1);
  for (const Tensor& gradient : gradients) labrig::mul_(gradient, factor);
}

Tensor parameter(const Tensor& start, Device device) { return start.to(device, false, true).requires_grad_(); }

// The copies that a step computes with: each parameter cast once, whatever the number of its uses.
Network cast(const Network& n, Dtype low) {
  return {n.input.to(low), n.bias.to(low), n.again.to(low), n.head.to(low), n.head_bias.to(low)};
}

Tensor loss_of(const Network& network, const Tensor& x, const Tensor& target, double weight) {
  Tensor h = labrig::tanh(labrig::linear(x[0], network.input, network.bias));
  for (std::int64_t t = 1; t < x.size(0); ++t)
    h = labrig::tanh(labrig::linear(x[t], network.input, network.bias) + labrig::linear(h, network.again));
  const Tensor scores = labrig::linear(h, network.head, network.head_bias);
  return labrig::mul(labrig::cross_entropy(scores.to(labrig::kF32), target), weight);
}

}  // namespace

class Solution : public Submission {
 public:
  std::optional<Dtype> precision_of(std::string_view op, Dtype low, Dtype a, Dtype b) override {
    const auto among = [op](auto... names) { return ((op == names) || ...); };
    if (among("bce")) return std::nullopt;  // log of a sigmoid that 16 bits round to 0 or 1
    if (among("matmul", "mm", "linear", "bmm", "addmm", "conv2d")) return low;
    if (among("exp", "log", "pow", "rsqrt", "reciprocal", "softmax", "log_softmax", "sum", "norm", "cumsum",
              "layer_norm", "mse_loss", "cross_entropy", "bce_with_logits"))
      return labrig::kF32;
    if (among("add", "mul", "div", "where", "cat", "stack", "dot", "addcmul")) return a == b ? a : labrig::kF32;
    return a;
  }

  std::unique_ptr<Scaler> make_scaler(const ScalerOptions& options) override {
    return std::make_unique<LossScaler>(options);
  }

  Trained train(const Job& job, Device device) override {
    const Dtype low = labrig::is_bf16_supported(device) ? labrig::kBF16 : labrig::kF16;
    const Network master = {parameter(job.start.input, device), parameter(job.start.bias, device),
                            parameter(job.start.again, device), parameter(job.start.head, device),
                            parameter(job.start.head_bias, device)};
    labrig::optim::SGD optimizer({master.input, master.bias, master.again, master.head, master.head_bias},
                                 {.lr = job.lr});
    const Tensor x = job.x.to(device).to(low), target = job.target.to(device);
    LossScaler scaler{ScalerOptions{.init_scale = low == labrig::kF16 ? 65536.0 : 1.0}};

    std::vector<Tensor> losses;  // on the device: nobody has to see them before the end
    for (std::int64_t step = 0; step < job.steps; ++step) {
      optimizer.zero_grad();
      const Tensor loss = loss_of(cast(master, low), x, target, job.loss_weight);
      losses.push_back(loss.detach());
      scaler.scale(loss).backward();
      if (job.max_norm > 0) {
        scaler.unscale(optimizer);
        clip(gradients_of(optimizer), job.max_norm);
      }
      scaler.step(optimizer);
      scaler.update();
    }
    const auto fetch = [](const Tensor& tensor) { return tensor.detach().cpu(); };
    return {
        labrig::stack(losses).cpu(),
        {fetch(master.input), fetch(master.bias), fetch(master.again), fetch(master.head), fetch(master.head_bias)}};
  }
};

LABRIG_SUBMISSION(Solution)
