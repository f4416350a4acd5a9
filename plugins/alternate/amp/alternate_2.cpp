// A correct answer of another kind: bf16 needs no scaler, so there is none in use where the card has it; gradients are
// asked for by autograd::grad() with respect to the parameters, and the steps are written out instead of left to an
// optimizer.
#include <cmath>
#include <set>
#include <utility>
#include <vector>

#include "interface.hpp"
#include "labrig/autograd.hpp"

using labrig::Dtype;
using labrig::Tensor;
using namespace amp_lab;

namespace {

// Unequal to itself, or infinite: either way the difference with itself is not 0.
bool has_inf_or_nan(const std::vector<Tensor>& gradients) {
  if (gradients.empty()) return false;
  std::vector<Tensor> flat;
  for (const Tensor& gradient : gradients) flat.push_back(gradient.flatten());
  const Tensor all = labrig::cat(flat);
  return labrig::sum(labrig::ne(all - all, 0)).item<std::int64_t>() != 0;
}

void multiply_all(const std::vector<Tensor>& tensors, double factor) {
  for (const Tensor& tensor : tensors) labrig::mul_(tensor, factor);
}

// Scale and tracker by themselves: train() needs no more.
struct Scale {
  explicit Scale(const ScalerOptions& options) : options(options), value(static_cast<float>(options.init_scale)) {}
  void after(bool overflow) {
    if (overflow) {
      value *= static_cast<float>(options.backoff_factor);
      good = 0;
      return;
    }
    good += 1;
    if (good < options.growth_interval) return;
    good = 0;
    if (const float more = value * static_cast<float>(options.growth_factor); more < INFINITY) value = more;
  }

  ScalerOptions options;
  float value;
  std::int64_t good = 0;
};

class ScalerOfOptimizers : public Scaler {
 public:
  explicit ScalerOfOptimizers(const ScalerOptions& options) : scale_(options) {}

  Tensor scale(const Tensor& loss) override { return loss * labrig::Scalar(scale_.value); }
  void unscale(labrig::optim::Optimizer& optimizer) override {
    const labrig::NoGradGuard no_grad;
    std::vector<Tensor> gradients;
    for (const auto& group : optimizer.param_groups())
      for (const Tensor& parameter : group.params)
        if (parameter.grad().defined()) gradients.push_back(parameter.grad());
    multiply_all(gradients, 1.0 / static_cast<double>(scale_.value));
    unscaled_.insert(&optimizer);
    if (has_inf_or_nan(gradients)) overflown_.insert(&optimizer);
  }
  bool step(labrig::optim::Optimizer& optimizer) override {
    if (unscaled_.count(&optimizer) == 0) unscale(optimizer);
    if (overflown_.count(&optimizer) != 0) return false;
    optimizer.step();
    return true;
  }
  void update() override {
    scale_.after(!overflown_.empty());
    unscaled_.clear();
    overflown_.clear();
  }
  ScalerState state() const override { return {scale_.options, static_cast<double>(scale_.value), scale_.good}; }
  void load(const ScalerState& state) override {
    scale_ = Scale(state.options);
    scale_.value = static_cast<float>(state.scale);
    scale_.good = state.growth_tracker;
  }

 private:
  Scale scale_;
  std::set<const labrig::optim::Optimizer*> unscaled_, overflown_;
};

bool is_one_of(std::string_view op, std::initializer_list<std::string_view> names) {
  for (const std::string_view name : names)
    if (name == op) return true;
  return false;
}

}  // namespace

class WrittenOut : public Submission {
 public:
  std::optional<Dtype> precision_of(std::string_view op, Dtype low, Dtype a, Dtype b) override {
    if (op == "bce") return {};
    if (is_one_of(op, {"matmul", "mm", "bmm", "addmm", "linear", "conv2d"})) return low;
    // One input, and nothing in the operator that 16 bits could not hold.
    if (is_one_of(op,
                  {"relu", "gelu", "tanh", "sigmoid", "sqrt", "clamp", "mean", "max", "index_select", "batch_norm"}))
      return a;
    const bool promotes = is_one_of(op, {"add", "mul", "div", "dot", "addcmul", "cat", "stack", "where"});
    return promotes && a == low && b == low ? low : labrig::kF32;
  }

  std::unique_ptr<Scaler> make_scaler(const ScalerOptions& options) override {
    return std::make_unique<ScalerOfOptimizers>(options);
  }

  Trained train(const Job& job, labrig::Device device) override {
    const bool bf16 = labrig::is_bf16_supported(device);
    const Dtype low = bf16 ? labrig::kBF16 : labrig::kF16;
    Scale scale{ScalerOptions{.init_scale = bf16 ? 1.0 : 65536.0}};
    std::vector<Tensor> master;
    for (const Tensor* start :
         {&job.start.input, &job.start.bias, &job.start.again, &job.start.head, &job.start.head_bias})
      master.push_back(start->to(device, false, true).requires_grad_());
    const Tensor x = job.x.to(low).to(device), target = job.target.to(device);

    std::vector<Tensor> losses;
    for (std::int64_t step = 0; step < job.steps; ++step) {
      const Tensor loss = labrig::mul(loss_of(master, x, target), job.loss_weight);
      losses.push_back(loss.detach());
      const std::vector<Tensor> gradients =
          labrig::autograd::grad({labrig::mul(loss, scale.value)}, {master.begin(), master.end()});
      const labrig::NoGradGuard no_grad;
      const bool overflow = !bf16 && has_inf_or_nan(gradients);
      if (!overflow) apply(master, gradients, job, 1.0 / static_cast<double>(scale.value));
      scale.after(overflow);
    }
    std::vector<Tensor> down;
    for (const Tensor& parameter : master) down.push_back(parameter.detach().cpu());
    return {labrig::stack(losses).cpu(), {down[0], down[1], down[2], down[3], down[4]}};
  }

 private:
  static Tensor loss_of(const std::vector<Tensor>& master, const Tensor& x, const Tensor& target) {
    std::vector<Tensor> w;
    for (const Tensor& parameter : master) w.push_back(parameter.to(x.dtype()));
    Tensor h = labrig::tanh(labrig::linear(x.select(0, 0), w[0], w[1]));
    for (std::int64_t t = 1; t < x.size(0); ++t)
      h = labrig::tanh(labrig::add(labrig::linear(h, w[2]), labrig::linear(x.select(0, t), w[0], w[1])));
    return labrig::cross_entropy(labrig::linear(h, w[3], w[4]).to(labrig::kF32), target);
  }

  // One factor does it all: unscaling, clipping and the learning rate.
  static void apply(const std::vector<Tensor>& master, const std::vector<Tensor>& gradients, const Job& job,
                    double unscale) {
    double factor = unscale;
    if (job.max_norm > 0) {
      double squares = 0;
      for (const Tensor& gradient : gradients) squares += std::pow(labrig::norm(gradient).item() * unscale, 2);
      if (std::sqrt(squares) > job.max_norm) factor *= job.max_norm / std::sqrt(squares);
    }
    for (std::size_t i = 0; i < master.size(); ++i) labrig::sub_(master[i], labrig::mul(gradients[i], factor * job.lr));
  }
};

LABRIG_SUBMISSION(WrittenOut)
