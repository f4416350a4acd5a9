// Task 1: a recipe as it travels (named values), and for the judge the same training in float64 on the host.
#pragma once

#include <array>
#include <cmath>
#include <memory>

#include "interface.hpp"
#include "labrig/autograd.hpp"
#include "labrig/lab.hpp"
#include "labrig/nn.hpp"
#include "labrig/optim.hpp"

namespace device_mismatch {

inline constexpr std::array kLearnt = {"hidden.weight", "hidden.bias", "out.weight", "out.bias"};

inline std::string numbered(const char* field, std::int64_t step) {
  return std::string(field) + "." + std::to_string(step);
}

// A model's tensors under "start." or "restart.".
inline void set_state(labrig::lab::Values& in, labrig::lab::Random& data, const std::string& prefix,
                      const labrig::lab::Scenario& s) {
  const std::int64_t width = s.integer("width"), hidden = s.integer("hidden"), classes = s.integer("classes");
  const double into_hidden = 1 / std::sqrt(static_cast<double>(width));
  const double into_out = 1 / std::sqrt(static_cast<double>(hidden));
  in.set(prefix + "hidden.weight", data.uniform_tensor({hidden, width}, -into_hidden, into_hidden));
  in.set(prefix + "hidden.bias", data.uniform_tensor({hidden}, -into_hidden, into_hidden));
  in.set(prefix + "out.weight", data.uniform_tensor({classes, hidden}, -into_out, into_out));
  in.set(prefix + "out.bias", data.uniform_tensor({classes}, -into_out, into_out));
  in.set(prefix + "center", data.uniform_tensor({width}, 0.5, 1.5));
}

inline void set_recipe(const labrig::lab::Scenario& s, labrig::lab::Random& data, labrig::lab::Values& in) {
  const std::int64_t steps = s.integer("steps"), rows = s.integer("rows"), classes = s.integer("classes");
  for (const char* name : {"width", "hidden", "classes", "steps", "restart_at"}) in.set(name, s.integer(name));
  in.set("lr", s.real("lr"));
  set_state(in, data, "start.", s);
  set_state(in, data, "restart.", s);
  in.set("class_weights", data.uniform_tensor({classes}, 0.5, 2, labrig::kF64));
  in.set("temperature", data.uniform_tensor({}, 0.5, 1.5));
  for (std::int64_t step = 0; step < steps; ++step) {
    in.set(numbered("features", step), data.uniform_tensor({rows, s.integer("width")}, 0, 2));
    std::vector<std::int64_t> targets(static_cast<std::size_t>(rows));
    for (std::int64_t& target : targets) target = data.integer(0, classes - 1);
    in.set(numbered("targets", step), labrig::tensor(targets));
  }
}

inline labrig::NamedTensors state_of(const labrig::lab::Values& in, const std::string& prefix, labrig::Device where) {
  labrig::NamedTensors state;
  for (const char* name : {"hidden.weight", "hidden.bias", "out.weight", "out.bias", "center"}) {
    labrig::Tensor tensor = in.tensor(prefix + name).to(where, false, true);
    state.emplace_back(name, tensor.set_name(name));
  }
  return state;
}

// With its tensors on `where`; the temperature stays on the CPU.
inline Recipe recipe_of(const labrig::lab::Values& in, labrig::Device where = {}) {
  Recipe recipe;
  recipe.width = in.integer("width"), recipe.hidden = in.integer("hidden"), recipe.classes = in.integer("classes");
  recipe.restart_at = static_cast<std::size_t>(in.integer("restart_at"));
  recipe.lr = in.real("lr");
  recipe.state = state_of(in, "start.", where);
  recipe.restart_state = state_of(in, "restart.", where);
  const auto weights = in.tensor("class_weights").data<const double>();
  recipe.class_weights.assign(weights.begin(), weights.end());
  recipe.temperature = in.tensor("temperature").clone();
  recipe.temperature.set_name("temperature");
  for (std::int64_t step = 0; step < in.integer("steps"); ++step) {
    Batch batch{in.tensor(numbered("features", step)).to(where), in.tensor(numbered("targets", step)).to(where)};
    batch.features.set_name("features");
    batch.targets.set_name("targets");
    recipe.batches.push_back(batch);
  }
  return recipe;
}

// --- for the judge -------------------------------------------------------------------------------------------

struct Oracle {
  labrig::Tensor losses;  // [steps] f64
  labrig::NamedTensors state;
};

// In float64, on the host. With `old_optimizer`, as it goes when the optimizer still holds the parameters of the model
// before the restart: the new ones are never changed.
inline Oracle oracle_of(const Recipe& recipe, bool old_optimizer = false) {
  using namespace labrig;
  NamedTensors state;
  const auto take = [&](const NamedTensors& from) {
    state.clear();
    for (const auto& [name, tensor] : from) state.emplace_back(name, tensor.to(kF64, true));
    for (const char* name : kLearnt) find(state, name).requires_grad_();
  };
  take(recipe.state);
  bool learns = true;
  std::vector<double> losses;
  for (std::size_t step = 0; step < recipe.batches.size(); ++step) {
    if (step > 0 && step == recipe.restart_at) {
      take(recipe.restart_state);
      learns = !old_optimizer;
    }
    const Batch& batch = recipe.batches[step];
    const std::int64_t rows = batch.targets.size(0);
    std::vector<double> importance;
    for (std::int64_t i = 0; i < rows; ++i) {
      const auto target =
          static_cast<std::size_t>(batch.targets.data<const std::int64_t>()[static_cast<std::size_t>(i)]);
      importance.push_back(recipe.class_weights[target] * static_cast<double>(i + 1) / static_cast<double>(rows));
    }
    const Tensor x = batch.features.to(kF64) - find(state, "center");
    const Tensor h = relu(linear(x, find(state, "hidden.weight"), find(state, "hidden.bias")));
    const Tensor scores = linear(h, find(state, "out.weight"), find(state, "out.bias")) / recipe.temperature.to(kF64);
    const Tensor each = cross_entropy(scores, batch.targets, {}, Reduction::none);
    const Tensor loss = sum(tensor(importance) * each) / rows;
    losses.push_back(loss.item());
    loss.backward();
    const NoGradGuard guard;
    for (const char* name : kLearnt) {
      const Tensor parameter = find(state, name);
      if (learns) sub_(parameter, parameter.grad() * recipe.lr);
      parameter.set_grad({});
    }
  }
  return {tensor(losses), state};
}

}  // namespace device_mismatch
