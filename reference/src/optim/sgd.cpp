// Stochastic gradient descent: g + decay p, then momentum, then p -= lr g.
#include "labrig/error.hpp"
#include "labrig/optim.hpp"
#include "ops/step.hpp"
#include "optim/check_settings.hpp"

namespace labrig::optim {
namespace {

Settings settings_of(const SgdOptions& options) {
  return {{"lr", options.lr},
          {"momentum", options.momentum},
          {"dampening", options.dampening},
          {"weight_decay", options.weight_decay},
          {"nesterov", options.nesterov ? 1 : 0}};
}

}  // namespace

SGD::SGD(std::vector<ParameterGroup> groups, const SgdOptions& options) : Optimizer(settings_of(options)) {
  start(std::move(groups));
}
SGD::SGD(const std::vector<Tensor>& parameters, const SgdOptions& options)
    : SGD(std::vector<ParameterGroup>{{parameters, {}}}, options) {}

void SGD::check(const Settings& settings) const {
  check_not_negative(settings,
                     {{"lr", "learning rate"}, {"momentum", "momentum value"}, {"weight_decay", "weight_decay value"}});
  if (settings.at("nesterov") == 0 || (settings.at("momentum") > 0 && settings.at("dampening") == 0)) return;
  throw Error("bad-optimizer", "Nesterov momentum requires a momentum and zero dampening",
              "it looks ahead along the momentum, so there must be one, in full",
              "set momentum, as 0.9, and leave dampening at 0");
}

void SGD::update(const Tensor& parameter, const Tensor& gradient, const Settings& settings, Memory& memory) {
  SgdStep step;
  step.lr = settings.at("lr");
  step.momentum = settings.at("momentum");
  step.dampening = settings.at("dampening");
  step.weight_decay = settings.at("weight_decay");
  step.nesterov = settings.at("nesterov") != 0;
  if (step.momentum == 0) return sgd_step(parameter, {}, gradient, step);
  step.first = !memory.tensors.contains("momentum_buffer");
  sgd_step(parameter, remembered(memory, parameter, "momentum_buffer"), gradient, step);
}

}  // namespace labrig::optim
