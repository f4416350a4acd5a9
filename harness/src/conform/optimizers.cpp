// Feeds the recorded gradients to an optimizer and compares the parameters after each step.
#include "conform/optimizers.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <memory>
#include <optional>

#include "conform/operator_table.hpp"
#include "conform/recorded_tensor.hpp"
#include "conform/target.hpp"
#include "labrig/optim.hpp"

namespace labrig::conform {
namespace {

constexpr double kTolerance = 1e-6;

struct Settings {
  std::string_view name, optimizer;
  double lr = 0, momentum = 0, weight_decay = 0;
  bool nesterov = false;
};
constexpr std::array kByName = {
    Settings{"sgd", "sgd", 0.05},
    Settings{"sgd_momentum", "sgd", 0.05, 0.9, 0.01},
    Settings{"sgd_nesterov", "sgd", 0.05, 0.9, 0, true},
    Settings{"adam", "adam", 0.01},
    Settings{"adam_wd", "adam", 0.01, 0, 0.1},
    Settings{"adamw", "adamw", 0.01, 0, 0.1},
};

std::string lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return std::tolower(c); });
  return text;
}

template <class Adam, class Options>
std::unique_ptr<optim::Optimizer> adam(const Tensor& parameter, const Attributes& config, const Settings& settings) {
  Options options;
  options.lr = config.number({"lr"}, settings.lr);
  options.eps = config.number({"eps"}, options.eps);
  options.weight_decay = config.number({"weight_decay"}, settings.weight_decay);
  if (const auto betas = config.find({"betas"})) {
    const std::vector<double> both = betas->numbers();
    if (both.size() != 2) betas->fail("is not a pair");
    options.beta1 = both[0], options.beta2 = both[1];
  }
  return std::make_unique<Adam>(std::vector<Tensor>{parameter}, options);
}

// Null for a name that says nothing, where `config` does not either. What a config leaves out is PyTorch's default.
std::unique_ptr<optim::Optimizer> made(const std::string& name, const Tensor& parameter, const Attributes& config,
                                       bool has_config) {
  const auto known = std::find_if(kByName.begin(), kByName.end(), [&](const Settings& s) { return s.name == name; });
  Settings settings{name, known == kByName.end() ? "" : known->optimizer, 1e-3};
  const bool by_name = known != kByName.end() && !has_config;
  if (by_name) settings = *known;
  const std::string kind = lower(config.text({"optimizer", "kind", "type"}, std::string(settings.optimizer)));
  if (kind == "adam") return adam<optim::Adam, optim::AdamOptions>(parameter, config, settings);
  if (kind == "adamw") {
    if (!by_name) settings.weight_decay = optim::AdamWOptions{}.weight_decay;
    return adam<optim::AdamW, optim::AdamWOptions>(parameter, config, settings);
  }
  if (kind != "sgd") return nullptr;
  optim::SgdOptions options;
  options.lr = config.number({"lr"}, settings.lr);
  options.momentum = config.number({"momentum"}, settings.momentum);
  options.dampening = config.number({"dampening"}, 0);
  options.weight_decay = config.number({"weight_decay"}, settings.weight_decay);
  options.nesterov = config.flag({"nesterov"}, settings.nesterov);
  return std::make_unique<optim::SGD>(std::vector<Tensor>{parameter}, options);
}

struct Steps {
  std::vector<std::vector<double>> gradients, parameters;
};

Steps read_steps(const Value& entry) {
  Steps steps;
  for (const Value& row : entry.at("grads").items()) steps.gradients.push_back(flat_numbers(row));
  const Value parameters = entry.at("params");
  for (const Value& row : parameters.items()) {
    steps.parameters.push_back(flat_numbers(row));
    if (steps.parameters.back().size() != steps.parameters.front().size()) row.fail("is not as long as the first");
  }
  if (steps.parameters.size() != steps.gradients.size() + 1) {
    parameters.fail("does not have one entry more than \"grads\": the first is the start");
  }
  for (std::size_t i = 0; i < steps.gradients.size(); ++i) {
    if (steps.gradients[i].size() == steps.parameters[0].size()) continue;
    entry.at("grads").items()[i].fail("is not as long as the parameter");
  }
  return steps;
}

Tensor on(Device device, const std::vector<double>& values) { return tensor(values).to(device); }

// The first parameter that differs.
std::optional<Difference> run(const std::string& name, const Steps& steps, const Tensor& parameter,
                              optim::Optimizer& optimizer) {
  for (std::size_t i = 0; i < steps.gradients.size(); ++i) {
    parameter.set_grad(on(parameter.device(), steps.gradients[i]));
    optimizer.step();
    const auto found = compare(values_of(parameter), steps.parameters[i + 1], kTolerance);
    if (!found) continue;
    return Difference{name + ", step " + std::to_string(i + 1),
                      {{"optimizer", name}, {"step", i + 1}},
                      "params" + found->index,
                      found->expected,
                      found->got};
  }
  return std::nullopt;
}

}  // namespace

Outcome optimizers(const JsonFile& file, Device device) {
  const Value root(file);
  const Target target(device);
  Outcome outcome;
  outcome.kind = "optimizers";
  outcome.device = target.device().str();
  outcome.word = "agree: |ours - recorded| <= 1e-06 max(1, max |recorded|)";
  for (const auto& [name, entry] : root.members()) {
    if (!entry.is_object()) {
      outcome.ignored.insert(name);
      continue;
    }
    entry.note_unknown({"config", "grads", "params"}, outcome.ignored);
    const Steps steps = read_steps(entry);
    const Tensor parameter = on(target.device(), steps.parameters[0]);
    parameter.requires_grad_();
    const Attributes config(entry.find("config"));
    const std::unique_ptr<optim::Optimizer> optimizer = made(name, parameter, config, entry.find("config").has_value());
    outcome.ignored.merge(config.unknown());
    if (!optimizer) {
      outcome.left_out[name] = "not known here";
    } else if (auto difference = run(name, steps, parameter, *optimizer)) {
      outcome.differ(std::move(*difference));
    } else {
      outcome.pass();
    }
  }
  if (outcome.total == 0) root.fail("has no optimizer that is known here");
  return outcome;
}

}  // namespace labrig::conform
