// GradScaler, after torch/amp/grad_scaler.py. Between two updates each optimizer goes
//
//   ready --unscale_()--> unscaled --step()--> stepped        (step() unscales first where nobody did)
//
// and carries one flag a device that has gradients: 1 once a gradient there was not finite. update() adds the flags of
// all optimizers up on the device of the scale and lets one kernel decide. Read next: ops/step.hpp (the two kernels).
#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "labrig/amp.hpp"
#include "labrig/autograd.hpp"
#include "labrig/error.hpp"
#include "labrig/ops.hpp"
#include "labrig/optim.hpp"
#include "ops/step.hpp"
#include "tensor/impl.hpp"

namespace labrig::amp {
namespace {

enum class Stage : std::uint8_t { ready, unscaled, stepped };

struct OptimizerSteps {
  const optim::Optimizer* optimizer = nullptr;
  Stage stage = Stage::ready;
  std::vector<Tensor> found_inf;  // f32, 0-dim: one a device, in the order in which the gradients come
};

// A 0-dim tensor of the host or a card on each device that asks for it.
class Replicas {
 public:
  explicit Replicas(Tensor master) : all_{std::move(master)} {}
  const Tensor& on(Device device) {
    const auto there = std::ranges::find(all_, device, &Tensor::device);
    if (there != all_.end()) return *there;
    return all_.emplace_back(all_[0].to(device, true));
  }

 private:
  std::vector<Tensor> all_;
};

[[noreturn]] void throw_order(std::string what, std::string why, std::string fix) {
  throw Error("scaler-order", std::move(what), std::move(why), std::move(fix));
}

// 1 / scale, divided in f64: the reciprocal of a scale near the ends of f32 is still exact to an f32's last bit.
Tensor inverse_of(const Tensor& scale) {
  return div(ones({}, Options(kF64, scale.device())), scale.to(kF64)).to(kF32).set_name("1 / scale");
}

std::vector<Tensor> gradients_of(const optim::Optimizer& optimizer) {
  std::vector<Tensor> gradients;
  for (const optim::ParameterGroup& group : optimizer.param_groups())
    for (const Tensor& parameter : group.params) {
      const Tensor gradient = parameter.grad();
      if (!gradient.defined()) continue;
      if (gradient.dtype() == kF16)
        throw Error("f16-gradients", "Attempting to unscale FP16 gradients.",
                    "the gradient of " + (parameter.name().empty() ? "a parameter" : "'" + parameter.name() + "'") +
                        " is f16, as the parameter is: divided by the scale it would become 0 again",
                    "keep the parameters in f32 and let autocast choose f16 for each operator; do not convert the "
                    "model");
      gradients.push_back(gradient);
    }
  return gradients;
}

}  // namespace

struct GradScaler::Steps {
  OptimizerSteps& of(const optim::Optimizer& optimizer) {
    const auto there = std::ranges::find(all, &optimizer, &OptimizerSteps::optimizer);
    return there != all.end() ? *there : all.emplace_back(OptimizerSteps{&optimizer, Stage::ready, {}});
  }
  std::vector<OptimizerSteps> all;
};

GradScaler::GradScaler(GradScalerOptions options) : options_(options), steps_(std::make_unique<Steps>()) {
  if (!options.enabled) return;
  if (!(options.growth_factor > 1))
    throw Error("invalid-argument", "The growth factor must be > 1.0.",
                "it is " + std::to_string(options.growth_factor) + ", and the scale would never grow",
                "give a growth factor above 1, such as 2");
  if (!(options.backoff_factor < 1))
    throw Error("invalid-argument", "The backoff factor must be < 1.0.",
                "it is " + std::to_string(options.backoff_factor) + ", and an overflow would never end",
                "give a backoff factor below 1, such as 0.5");
}
GradScaler::~GradScaler() = default;
GradScaler::GradScaler(GradScaler&&) noexcept = default;
GradScaler& GradScaler::operator=(GradScaler&&) noexcept = default;

void GradScaler::require_scale(const char* call) const {
  if (scale_.defined()) return;
  throw_order(std::string("Attempted ") + call +
                  " but _scale is None.  This may indicate your script did not use scaler.scale(loss or outputs) "
                  "earlier in the iteration.",
              "the scaler puts its scale on the device of the first loss that it multiplies, and it has seen none",
              "call scaler.scale(loss).backward() instead of loss.backward()");
}

Tensor GradScaler::scale(const Tensor& output) { return scale(std::vector<Tensor>{output})[0]; }

std::vector<Tensor> GradScaler::scale(const std::vector<Tensor>& outputs) {
  if (!options_.enabled || outputs.empty()) return outputs;
  if (!scale_.defined()) {
    const Device device = outputs[0].device();
    // Both lie in one block: the smallest that a card has is 512 bytes.
    const Tensor both = empty({2}, Options(kF32, device)).set_name("scale and growth tracker");
    scale_ = alias(both, Layout::contiguous({}, 0), kF32).fill_(options_.init_scale);
    growth_tracker_ = alias(both, Layout::contiguous({}, 1), kI32).fill_(static_cast<double>(first_tracker_));
  }
  Replicas scales(scale_);
  std::vector<Tensor> scaled;
  for (const Tensor& output : outputs) scaled.push_back(mul(output, scales.on(output.device())));
  return scaled;
}

void GradScaler::unscale_(optim::Optimizer& optimizer) {
  if (!options_.enabled) return;
  require_scale("unscale_");
  OptimizerSteps& steps = steps_->of(optimizer);
  if (steps.stage == Stage::unscaled)
    throw_order("unscale_() has already been called on this optimizer since the last update().",
                "its gradients have been divided by the scale once; a second time would make them too small",
                "call unscale_() once an iteration, where the gradients are complete, not once a micro-batch");
  if (steps.stage == Stage::stepped)
    throw_order("unscale_() is being called after step().", "the optimizer has used these gradients already",
                "call unscale_() before step(), and update() after it");
  const NoGradGuard no_grad;
  const std::vector<Tensor> gradients = gradients_of(optimizer);
  if (!gradients.empty()) {
    Replicas inverse(inverse_of(scale_));
    for (const Tensor& gradient : gradients) {
      auto flag = std::ranges::find(steps.found_inf, gradient.device(), &Tensor::device);
      if (flag == steps.found_inf.end())
        flag = steps.found_inf.insert(flag, zeros({}, gradient.device()).set_name("found_inf"));
      amp_unscale(gradient, *flag, inverse.on(gradient.device()));
    }
  }
  steps.stage = Stage::unscaled;
}

bool GradScaler::step(optim::Optimizer& optimizer) {
  if (!options_.enabled) {
    optimizer.step();
    return true;
  }
  require_scale("step");
  OptimizerSteps& steps = steps_->of(optimizer);
  if (steps.stage == Stage::stepped)
    throw_order("step() has already been called since the last update().",
                "the scaler must hear of the end of an iteration before the next step",
                "call scaler.update() once an iteration, after the steps of all optimizers");
  if (steps.stage == Stage::ready) unscale_(optimizer);
  if (steps.found_inf.empty())
    throw_order("No inf checks were recorded for this optimizer.", "none of its parameters has a gradient",
                "check that the loss depends on these parameters, and that the optimizer was given the parameters of "
                "the model that is trained");
  double found = 0;
  for (const Tensor& flag : steps.found_inf) found += flag.item();
  if (found == 0) optimizer.step();
  steps.stage = Stage::stepped;
  return found == 0;
}

void GradScaler::update() {
  if (!options_.enabled) return;
  require_scale("update");
  const NoGradGuard no_grad;
  Tensor found;
  for (const OptimizerSteps& steps : steps_->all)
    for (const Tensor& flag : steps.found_inf) {
      const Tensor here = flag.to(scale_.device(), true);
      found.defined() ? add_(found, here) : found = here;
    }
  if (!found.defined())
    throw_order("No inf checks were recorded prior to update.",
                "update() learns from the steps since the last one, and there was none",
                "call scaler.step(optimizer) before scaler.update()");
  amp_update_scale(scale_, growth_tracker_, found,
                   {options_.growth_factor, options_.backoff_factor, options_.growth_interval});
  steps_->all.clear();
}

void GradScaler::update(double new_scale) {
  if (!options_.enabled) return;
  require_scale("update");
  scale_.fill_(new_scale);
  steps_->all.clear();
}

void GradScaler::update(const Tensor& new_scale) {
  if (!options_.enabled) return;
  require_scale("update");
  if (new_scale.dtype() != kF32 || new_scale.numel() != 1 || new_scale.requires_grad())
    throw Error("invalid-argument",
                "new_scale should be a float or a 1-element torch.cuda.FloatTensor or torch.FloatTensor with "
                "requires_grad=False.",
                "it is a tensor of " + std::to_string(new_scale.numel()) + " elements of type " +
                    name_of(new_scale.dtype()) + (new_scale.requires_grad() ? " that requires a gradient" : ""),
                "give a number, or a detached f32 tensor of one element");
  scale_.copy_(new_scale.reshape({}));
  steps_->all.clear();
}

double GradScaler::get_scale() const {
  if (!options_.enabled) return 1;
  return scale_.defined() ? scale_.item() : options_.init_scale;
}

std::int64_t GradScaler::get_growth_tracker() const {
  if (!options_.enabled) return 0;
  return growth_tracker_.defined() ? growth_tracker_.item<std::int64_t>() : first_tracker_;
}

GradScaler::State GradScaler::state_dict() const {
  if (!options_.enabled) return {};
  return {{"scale", get_scale()},
          {"growth_factor", options_.growth_factor},
          {"backoff_factor", options_.backoff_factor},
          {"growth_interval", static_cast<double>(options_.growth_interval)},
          {"_growth_tracker", static_cast<double>(get_growth_tracker())}};
}

void GradScaler::load_state_dict(const State& state) {
  if (!options_.enabled) return;
  if (state.empty())
    throw Error("empty-scaler-state",
                "The source state dict is empty, possibly because it was saved from a disabled instance of GradScaler.",
                "a scaler that is not enabled has no state, and this one is enabled",
                "leave the scaler as it starts when the checkpoint was written without mixed precision");
  const auto value = [&](const char* key) {
    const auto there = state.find(key);
    if (there == state.end())
      throw Error("missing-key", std::string("Missing key in the state of GradScaler: ") + key,
                  "all five of scale, growth_factor, backoff_factor, growth_interval and _growth_tracker are needed to "
                  "go on where training stopped",
                  "save what GradScaler::state_dict() returns, all of it");
    return there->second;
  };
  const double scale = value("scale"), tracker = value("_growth_tracker");
  GradScalerOptions loaded = options_;
  loaded.init_scale = scale;
  loaded.growth_factor = value("growth_factor");
  loaded.backoff_factor = value("backoff_factor");
  loaded.growth_interval = static_cast<std::int64_t>(value("growth_interval"));
  options_ = loaded;
  first_tracker_ = static_cast<std::int64_t>(tracker);
  if (scale_.defined()) {
    scale_.fill_(scale);
    growth_tracker_.fill_(tracker);
  }
}

}  // namespace labrig::amp
