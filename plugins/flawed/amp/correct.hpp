// What the flawed variants of lab 04 have in common: the parts that are right. Each variant overrides one step of it
// and makes one typical mistake, so that a file here reads as the mistake alone. train() has a scaler of its own
// (scaler()), apart from make_scaler(), so that a mistake in one of them can be seen by itself.
#pragma once

#include <cmath>
#include <map>
#include <memory>
#include <vector>

#include "interface.hpp"
#include "labrig/autograd.hpp"

namespace flawed {

using labrig::Device;
using labrig::Dtype;
using labrig::kBF16;
using labrig::kF16;
using labrig::kF32;
using labrig::Tensor;
using labrig::optim::Optimizer;
using namespace amp_lab;

inline std::vector<Tensor> gradients_of(const Optimizer& optimizer) {
  std::vector<Tensor> gradients;
  for (const auto& group : optimizer.param_groups())
    for (const Tensor& parameter : group.params) gradients.push_back(parameter.grad());
  return gradients;
}

class RightScaler : public Scaler {
 public:
  explicit RightScaler(const ScalerOptions& options) : state_{options, options.init_scale, 0} {}

  Tensor scale(const Tensor& loss) override { return labrig::mul(loss, state_.scale); }

  void unscale(Optimizer& optimizer) override {
    const labrig::NoGradGuard no_grad;
    std::vector<Tensor> sums;  // finite only where all that was summed is
    for (const Tensor& gradient : gradients_of(optimizer)) {
      labrig::mul_(gradient, 1 / state_.scale);
      sums.push_back(labrig::sum(gradient));
    }
    good_[&optimizer] = std::isfinite(labrig::sum(labrig::stack(sums)).item());
  }

  bool step(Optimizer& optimizer) override {
    if (!good_.contains(&optimizer)) unscale(optimizer);
    if (good_[&optimizer]) optimizer.step();
    return good_[&optimizer];
  }

  void update() override {
    bool all_good = true;
    for (const auto& [optimizer, good] : good_) all_good = all_good && good;
    good_.clear();
    if (!all_good) {
      back_off();
    } else if (++state_.growth_tracker == state_.options.growth_interval) {
      grow();
    }
  }

  ScalerState state() const override { return state_; }
  void load(const ScalerState& state) override { state_ = state; }

 protected:
  virtual void back_off() {
    state_.scale *= state_.options.backoff_factor;
    state_.growth_tracker = 0;
  }
  virtual void grow() {
    const double grown = state_.scale * state_.options.growth_factor;
    if (std::isfinite(static_cast<float>(grown))) state_.scale = grown;
    state_.growth_tracker = 0;
  }

  ScalerState state_;
  std::map<const Optimizer*, bool> good_;  // of the optimizers that were unscaled in this iteration
};

class Correct : public Submission {
 public:
  std::optional<Dtype> precision_of(std::string_view op, Dtype low, Dtype a, Dtype b) override {
    const auto among = [op](auto... names) { return ((op == names) || ...); };
    if (among("bce")) return std::nullopt;
    if (among("matmul", "mm", "linear", "bmm", "addmm", "conv2d")) return low;
    if (among("exp", "log", "pow", "rsqrt", "reciprocal", "softmax", "log_softmax", "sum", "norm", "cumsum",
              "layer_norm", "mse_loss", "cross_entropy", "bce_with_logits"))
      return kF32;
    if (among("add", "mul", "div", "where", "cat", "stack", "dot", "addcmul")) return a == b ? a : kF32;
    return a;
  }

  std::unique_ptr<Scaler> make_scaler(const ScalerOptions& options) override {
    return std::make_unique<RightScaler>(options);
  }

  Trained train(const Job& job, Device device) override {
    const Dtype low = low_type(device);
    const auto parameter = [&](const Tensor& start) { return master(start.to(device, false, true), low); };
    const Network all = {parameter(job.start.input), parameter(job.start.bias), parameter(job.start.again),
                         parameter(job.start.head), parameter(job.start.head_bias)};
    labrig::optim::SGD optimizer({all.input, all.bias, all.again, all.head, all.head_bias}, {.lr = job.lr});
    const Tensor x = job.x.to(device).to(low), target = job.target.to(device);
    const std::unique_ptr<Scaler> scaling = scaler();

    std::vector<Tensor> losses;
    for (std::int64_t step = 0; step < job.steps; ++step) {
      optimizer.zero_grad();
      const Tensor loss = labrig::mul(loss_of(scores(all, x), target), job.loss_weight);
      losses.push_back(loss.detach());
      scaling->scale(loss).backward();
      if (job.max_norm > 0) {
        before_clipping(*scaling, optimizer);
        clip(gradients_of(optimizer), job.max_norm);
      }
      scaling->step(optimizer);
      scaling->update();
    }
    const auto fetch = [](const Tensor& tensor) { return tensor.detach().cpu().to(kF32); };
    return {fetch(labrig::stack(losses)),
            {fetch(all.input), fetch(all.bias), fetch(all.again), fetch(all.head), fetch(all.head_bias)}};
  }

 protected:
  virtual Dtype low_type(Device device) const { return labrig::is_bf16_supported(device) ? kBF16 : kF16; }
  virtual std::unique_ptr<Scaler> scaler() { return std::make_unique<RightScaler>(ScalerOptions{}); }
  // A parameter as it is kept and stepped.
  virtual Tensor master(const Tensor& start, Dtype /*low*/) const { return start.requires_grad_(); }
  // The scores of the last time: each parameter is cast once, whatever the number of its uses.
  virtual Tensor scores(const Network& n, const Tensor& x) const {
    const Dtype low = x.dtype();
    const Tensor input = n.input.to(low), bias = n.bias.to(low), again = n.again.to(low);
    Tensor h = labrig::tanh(labrig::linear(x[0], input, bias));
    for (std::int64_t t = 1; t < x.size(0); ++t)
      h = labrig::tanh(labrig::linear(x[t], input, bias) + labrig::linear(h, again));
    return labrig::linear(h, n.head.to(low), n.head_bias.to(low));
  }
  virtual Tensor loss_of(const Tensor& scores, const Tensor& target) const {
    return labrig::cross_entropy(scores.to(kF32), target);
  }
  virtual void before_clipping(Scaler& scaling, Optimizer& optimizer) const { scaling.unscale(optimizer); }

 private:
  static void clip(const std::vector<Tensor>& gradients, double max_norm) {
    const labrig::NoGradGuard no_grad;
    std::vector<Tensor> norms;
    for (const Tensor& gradient : gradients) norms.push_back(labrig::norm(gradient).to(kF32));
    const Tensor limit = labrig::full({}, max_norm, norms[0].device());
    const Tensor factor = labrig::clamp(labrig::div(limit, labrig::norm(labrig::stack(norms))), 0, 1);
    for (const Tensor& gradient : gradients) labrig::mul_(gradient, factor);
  }
};

}  // namespace flawed
