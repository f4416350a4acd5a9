// Adam and AdamW: averages of the gradient and of its square, each divided by 1 - beta^step; the parameter moves by
// their quotient. They differ in where weight decay goes.
#include "labrig/error.hpp"
#include "labrig/optim.hpp"
#include "ops/step.hpp"
#include "optim/check_settings.hpp"
#include "tensor/python_number.hpp"

namespace labrig::optim {
namespace {

Settings settings_of(const AdamOptions& options) {
  return {{"lr", options.lr},
          {"beta1", options.beta1},
          {"beta2", options.beta2},
          {"eps", options.eps},
          {"weight_decay", options.weight_decay}};
}

AdamOptions as_adam(const AdamWOptions& options) {
  return {options.lr, options.beta1, options.beta2, options.eps, options.weight_decay};
}

void check_beta(const Settings& settings, const char* key, int index) {
  const double beta = settings.at(key);
  if (beta >= 0 && beta < 1) return;
  throw Error("bad-optimizer", "Invalid beta parameter at index " + std::to_string(index) + ": " + python_number(beta),
              "an average keeps the part beta of its old value, which must be at least 0 and below 1",
              index == 0 ? "use 0.9, the usual value" : "use 0.999, the usual value");
}

std::vector<ParameterGroup> one_group(const std::vector<Tensor>& parameters) { return {{parameters, {}}}; }

}  // namespace

Adam::Adam(std::vector<ParameterGroup> groups, const AdamOptions& options, bool decoupled)
    : Optimizer(settings_of(options)), decoupled_(decoupled) {
  start(std::move(groups));
}
Adam::Adam(std::vector<ParameterGroup> groups, const AdamOptions& options) : Adam(std::move(groups), options, false) {}
Adam::Adam(const std::vector<Tensor>& parameters, const AdamOptions& options)
    : Adam(one_group(parameters), options, false) {}

AdamW::AdamW(std::vector<ParameterGroup> groups, const AdamWOptions& options)
    : Adam(std::move(groups), as_adam(options), true) {}
AdamW::AdamW(const std::vector<Tensor>& parameters, const AdamWOptions& options)
    : Adam(one_group(parameters), as_adam(options), true) {}

void Adam::check(const Settings& settings) const {
  check_not_negative(settings,
                     {{"lr", "learning rate"}, {"eps", "epsilon value"}, {"weight_decay", "weight_decay value"}});
  check_beta(settings, "beta1", 0);
  check_beta(settings, "beta2", 1);
}

void Adam::update(const Tensor& parameter, const Tensor& gradient, const Settings& settings, Memory& memory) {
  AdamStep step;
  step.lr = settings.at("lr");
  step.beta1 = settings.at("beta1");
  step.beta2 = settings.at("beta2");
  step.eps = settings.at("eps");
  step.weight_decay = settings.at("weight_decay");
  step.decoupled = decoupled_;
  step.step = memory.step + 1;
  adam_step(parameter, remembered(memory, parameter, "exp_avg"), remembered(memory, parameter, "exp_avg_sq"), gradient,
            step);
}

}  // namespace labrig::optim
