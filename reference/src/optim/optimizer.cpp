// What all optimizers have in common: groups and their settings, the walk over parameters, and the state in PyTorch's
// layout. The formulas are in sgd.cpp and adam.cpp. Read next: ../ops/step.hpp (the kernels).
#include <algorithm>

#include "labrig/autograd.hpp"
#include "labrig/error.hpp"
#include "labrig/optim.hpp"
#include "nn/gradients.hpp"
#include "tensor/impl.hpp"

namespace labrig::optim {
namespace {

Error bad_optimizer(const std::string& what, const std::string& why, const std::string& fix) {
  return Error("bad-optimizer", what, why, fix);
}

std::string called(const Tensor& parameter) {
  return parameter.name().empty() ? "a parameter" : "'" + parameter.name() + "'";
}

std::string state_name(const Tensor& parameter, const std::string& what) { return what + " of " + called(parameter); }

// The entry of a parameter in `all`, made when it is first asked for.
template <class Memory>
Memory& own(const Tensor& parameter, std::vector<Memory>& all, std::map<const TensorImpl*, std::size_t>& numbers) {
  const auto [entry, is_new] = numbers.try_emplace(parameter.impl().get(), all.size());
  return is_new ? all.emplace_back() : all[entry->second];
}

void check_parameter(const Tensor& parameter) {
  impl_of(parameter);  // throws for an undefined one
  if (parameter.is_leaf()) return;
  throw bad_optimizer("can't optimize a non-leaf Tensor",
                      called(parameter) + " is the result of " + parameter.grad_fn() +
                          ": it is computed anew in each pass, and its change would be lost",
                      "pass the tensor that it was made from; create parameters on their device, or move them with "
                      "Module::to, which keeps them leaves");
}

void check_new(const Tensor& parameter, const std::vector<ParameterGroup>& groups, const ParameterGroup& group) {
  const auto is_it = [&](const Tensor& known) { return known.is_same(parameter); };
  const bool twice = std::ranges::count_if(group.params, is_it) > 1;
  const bool elsewhere = std::ranges::any_of(
      groups, [&](const ParameterGroup& other) { return std::ranges::any_of(other.params, is_it); });
  if (twice || elsewhere) {
    throw bad_optimizer("some parameters appear in more than one parameter group",
                        called(parameter) + " would be changed twice by each step", "give each parameter once");
  }
}

std::string keys_of(const Settings& settings) {
  std::string keys;
  for (const auto& [key, value] : settings) keys += (keys.empty() ? "" : ", ") + key;
  return keys;
}

std::string count_text(std::size_t count, const char* what) {
  return std::to_string(count) + " " + what + (count == 1 ? "" : "s");
}

void check_same_groups(const std::vector<ParameterGroup>& ours, const std::vector<State::Group>& theirs) {
  const char* const fix = "build model and optimizer as they were when the state was saved";
  if (ours.size() != theirs.size()) {
    throw bad_optimizer(
        "loaded state dict has a different number of parameter groups",
        "it has " + count_text(theirs.size(), "group") + ", this optimizer has " + count_text(ours.size(), "group"),
        fix);
  }
  for (std::size_t i = 0; i < ours.size(); ++i) {
    if (ours[i].params.size() == theirs[i].params.size()) continue;
    throw bad_optimizer("loaded state dict contains a parameter group that doesn't match the size of optimizer's group",
                        "group " + std::to_string(i) + " has " + count_text(theirs[i].params.size(), "parameter") +
                            " there and " + count_text(ours[i].params.size(), "parameter") + " here",
                        fix);
  }
}

// The number of steps in a saved state.
std::int64_t steps_in(const Tensor& step) {
  const double number = step.numel() == 1 ? step.item() : -1;
  if (number >= 0 && number < 0x1p53) return static_cast<std::int64_t>(number);
  throw bad_optimizer("the state has no number of steps", "\"step\" is " + step.str(),
                      "load a state that state_dict() gave");
}

}  // namespace

Optimizer::Optimizer(Settings defaults) : defaults_(std::move(defaults)) {}
Optimizer::~Optimizer() = default;

void Optimizer::start(std::vector<ParameterGroup> groups) {
  const bool none = std::ranges::all_of(groups, [](const ParameterGroup& group) { return group.params.empty(); });
  if (none && groups.size() <= 1) {
    throw bad_optimizer("optimizer got an empty parameter list", "without parameters a step would do nothing",
                        "pass model.parameters(), after the model has registered its layers");
  }
  check(defaults_);
  for (ParameterGroup& group : groups) add_param_group(std::move(group));
}

void Optimizer::add_param_group(ParameterGroup group) {
  for (const Tensor& parameter : group.params) {
    check_parameter(parameter);
    check_new(parameter, groups_, group);
  }
  for (const auto& [key, value] : group.settings) {
    if (defaults_.contains(key) || key == "initial_lr") continue;
    throw bad_optimizer("there is no setting '" + key + "'", "this optimizer has " + keys_of(defaults_),
                        "correct the name");
  }
  group.settings.insert(defaults_.begin(), defaults_.end());  // what is there already stays
  check(group.settings);
  groups_.push_back(std::move(group));
}

void Optimizer::step() {
  const NoGradGuard guard;
  for (const ParameterGroup& group : groups_) {
    for (const Tensor& parameter : group.params) {
      const Tensor gradient = parameter.grad();
      if (!gradient.defined()) continue;
      Memory& memory = own(parameter, memory_, memory_of_);
      update(parameter, gradient, group.settings, memory);
      ++memory.step;
    }
  }
}

void Optimizer::zero_grad(bool set_to_none) {
  for (const ParameterGroup& group : groups_) nn::zero_gradients(group.params, set_to_none);
}

const Tensor& Optimizer::remembered(Memory& memory, const Tensor& parameter, const char* what) {
  Tensor& tensor = memory.tensors[what];
  if (!tensor.defined()) {
    const Tensor fresh =
        make_tensor(parameter.sizes(), {parameter.dtype(), parameter.device()}, state_name(parameter, what));
    tensor = with_origin(fresh.zero_(), Origin::made_by("the optimizer"));
  }
  return tensor;
}

// --- state -----------------------------------------------------------------------------------------------------------

State Optimizer::state_dict() const {
  State all;
  std::int64_t number = 0;
  for (const ParameterGroup& group : groups_) {
    State::Group& saved = all.param_groups.emplace_back();
    saved.settings = group.settings;
    for (const Tensor& parameter : group.params) {
      saved.params.push_back(number);
      const auto known = memory_of_.find(parameter.impl().get());
      if (known != memory_of_.end()) {
        const Memory& memory = memory_[known->second];
        auto state = memory.tensors;
        if (counts_steps()) state["step"] = full({}, static_cast<double>(memory.step));
        if (!state.empty()) all.state[number] = std::move(state);
      }
      ++number;
    }
  }
  return all;
}

void Optimizer::load_state_dict(const State& saved) {
  const NoGradGuard guard;
  check_same_groups(groups_, saved.param_groups);
  std::vector<ParameterGroup> groups = groups_;
  std::vector<Memory> loaded;
  std::map<const TensorImpl*, std::size_t> loaded_of;
  for (std::size_t i = 0; i < groups.size(); ++i) {
    for (const auto& [key, value] : saved.param_groups[i].settings) groups[i].settings[key] = value;
    check(groups[i].settings);
    for (std::size_t j = 0; j < groups[i].params.size(); ++j) {
      const auto state = saved.state.find(saved.param_groups[i].params[j]);
      if (state == saved.state.end()) continue;
      const Tensor& parameter = groups[i].params[j];
      Memory& memory = own(parameter, loaded, loaded_of);
      for (const auto& [what, tensor] : state->second) {
        if (what == "step") {
          memory.step = steps_in(tensor);
        } else {
          // A copy in any case: two optimizers that share their momentum would both be wrong.
          memory.tensors[what] = tensor.to(parameter.device(), parameter.dtype(), false, true);
          memory.tensors[what].set_name(state_name(parameter, what));
        }
      }
    }
  }
  groups_ = std::move(groups);
  memory_ = std::move(loaded);
  memory_of_ = std::move(loaded_of);
}

}  // namespace labrig::optim
