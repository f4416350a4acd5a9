// A correct answer of another kind: no modules and no optimizer; the parameters are plain tensors that are moved once
// and changed in place, and losses have their place on the device from the start. Culprits are found forwards: each
// value in turn gets the set of values in which its being off the device began.
#include <algorithm>
#include <set>

#include "interface.hpp"
#include "labrig/autograd.hpp"
#include "labrig/io.hpp"

using namespace device_mismatch;
using labrig::Device;
using labrig::Tensor;

namespace {

using Parameters = std::map<std::string, Tensor>;

Parameters parameters_on(Device device, const labrig::NamedTensors& state) {
  Parameters parameters;
  for (const auto& [name, tensor] : state) {
    parameters[name] = tensor.to(device, false, true).detach();
    if (name != "center") parameters[name].requires_grad_();
  }
  return parameters;
}

void step_down(const Parameters& parameters, double rate) {
  const labrig::NoGradGuard guard;
  for (const auto& [name, parameter] : parameters) {
    if (!parameter.requires_grad()) continue;
    labrig::sub_(parameter, parameter.grad() * rate);
    parameter.set_grad({});
  }
}

Tensor loss_of(const Parameters& p, const Tensor& x, const Tensor& targets, const Tensor& importance,
               const Tensor& temperature) {
  const Tensor h = relu(linear(x - p.at("center"), p.at("hidden.weight"), p.at("hidden.bias")));
  const Tensor logits = linear(h, p.at("out.weight"), p.at("out.bias")) / temperature;
  return mean(labrig::cross_entropy(logits, targets, {}, labrig::Reduction::none) * importance);
}

}  // namespace

class Functional : public Submission {
 public:
  Trained train(const Recipe& r, Device device) override {
    Parameters p = parameters_on(device, r.state);
    const Tensor weights = labrig::tensor(r.class_weights).to(device, labrig::kF32);
    const auto steps = static_cast<std::int64_t>(r.batches.size());
    const Tensor losses = labrig::empty({steps}, device);
    for (std::int64_t i = 0; i < steps; ++i) {
      if (i > 0 && i == static_cast<std::int64_t>(r.restart_at)) p = parameters_on(device, r.restart_state);
      const Batch& batch = r.batches[static_cast<std::size_t>(i)];
      const Tensor targets = batch.targets.to(device);
      const Tensor rank = labrig::arange(targets.size(0), {labrig::kF32, device});
      const Tensor importance = labrig::index_select(weights, 0, targets) * (rank + 1) / targets.size(0);
      const Tensor loss = loss_of(p, batch.features.to(device), targets, importance, r.temperature);
      loss.backward();
      losses[i].copy_(loss.detach());
      step_down(p, r.lr);
    }
    return {losses.cpu(), {p.begin(), p.end()}};
  }

  Loaded load(const std::string& path, Device device, const Wanted& wanted) override {
    Loaded result;
    std::set<std::string> left(wanted.names.begin(), wanted.names.end());
    for (const auto& [name, tensor] : labrig::io::load(path, Device("cpu")).tensors) {
      if (left.erase(name) == 0) {
        result.unexpected.push_back(name);
        continue;
      }
      const bool here = wanted.elsewhere.find(name) == wanted.elsewhere.end();
      result.tensors.emplace_back(name, tensor.to(here ? device : wanted.elsewhere.at(name)));
    }
    result.missing.assign(left.begin(), left.end());
    return result;
  }

  std::vector<std::string> culprit(const Program& program) override {
    using Names = std::set<std::string>;
    const auto first = std::find_if(program.values.begin(), program.values.end(),
                                    [](const Value& v) { return v.made_by == "parameter"; });
    std::map<std::string, const Value*> known;
    std::map<std::string, Names> begins;  // of the values that are off the device
    const auto collected = [&](const std::string& operation, const std::vector<std::string>& operands) {
      Names all, numbers;
      for (const std::string& name : operands) {
        const Value& v = *known.at(name);
        const bool number = v.sizes.empty() && v.device.is_cpu() && takes_numbers(operation);
        (number ? numbers : all).insert(begins[name].begin(), begins[name].end());
      }
      const bool only_numbers = std::all_of(operands.begin(), operands.end(), [&](const std::string& name) {
        return known.at(name)->sizes.empty() && known.at(name)->device.is_cpu();
      });
      return only_numbers ? numbers : all;
    };
    for (const Value& value : program.values) {
      known[value.name] = &value;
      if (value.device == first->device) continue;
      begins[value.name] = collected(value.made_by, value.inputs);
      if (begins[value.name].empty()) begins[value.name] = {value.name};
    }
    const Names culprits = collected(program.operation, program.operands);
    return {culprits.begin(), culprits.end()};
  }
};

LABRIG_SUBMISSION(Functional)
