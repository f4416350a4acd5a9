// What the flawed variants of lab 05 have in common: the parts that are right. Each variant derives from Correct and
// makes one typical mistake, so that a file here reads as the mistake alone.
#pragma once

#include <algorithm>
#include <memory>
#include <set>

#include "interface.hpp"
#include "labrig/io.hpp"
#include "labrig/nn.hpp"
#include "labrig/optim.hpp"

namespace flawed {

using namespace device_mismatch;
using labrig::Device;
using labrig::NamedTensors;
using labrig::Tensor;

struct Net : labrig::nn::Module {
  labrig::nn::Linear hidden, out;
  Tensor center;

  Net(const Recipe& r, const NamedTensors& state, Device device, bool register_center)
      : hidden(r.width, r.hidden), out(r.hidden, r.classes), center(labrig::find(state, "center")) {
    register_module("hidden", hidden);
    register_module("out", out);
    if (register_center) center = register_buffer("center", center.clone());
    to(device);
    load_state_dict(state, register_center);
  }
  Tensor forward(const Tensor& x) override { return out(relu(hidden(x - center))); }
};

class Correct : public Submission {
 public:
  Trained train(const Recipe& recipe, Device asked) override {
    const Device device = used(asked);
    Net net = built(recipe, recipe.state, device);
    auto optimizer = optimizer_of(net, recipe);
    std::vector<Tensor> losses;
    for (std::size_t step = 0; step < recipe.batches.size(); ++step) {
      if (step > 0 && step == recipe.restart_at) {
        net = built(recipe, recipe.restart_state, device);
        if (renews_optimizer()) optimizer = optimizer_of(net, recipe);
      }
      const Batch batch = placed(recipe.batches[step], device);
      const std::int64_t rows = batch.targets.size(0);
      const Tensor newness = (labrig::arange(rows, {labrig::kF32, device}) + 1) / rows;
      const Tensor scores = net(batch.features) / recipe.temperature;
      const Tensor each = labrig::cross_entropy(scores, batch.targets, {}, labrig::Reduction::none);
      const Tensor loss = sum(weight_of_each(recipe, batch.targets) * newness * each) / rows;
      net.zero_grad();
      loss.backward();
      optimizer->step();
      losses.push_back(loss.detach());
    }
    return {labrig::stack(losses).cpu(), net.state_dict()};
  }

  Loaded load(const std::string& path, Device device, const Wanted& wanted) override {
    return sorted(labrig::io::load(path, "cpu").tensors, device, wanted);
  }

  std::vector<std::string> culprit(const Program& program) override {
    std::set<std::string> found;
    follow(program, program.operation, program.operands, found);
    return {found.begin(), found.end()};
  }

 protected:
  virtual Device used(Device asked) { return asked; }
  virtual Net built(const Recipe& recipe, const NamedTensors& state, Device device) {
    return Net(recipe, state, device, true);
  }
  virtual bool renews_optimizer() { return true; }
  virtual Batch placed(const Batch& batch, Device device) {
    return {batch.features.to(device), batch.targets.to(device)};
  }
  virtual Tensor weight_of_each(const Recipe& recipe, const Tensor& targets) {
    return labrig::index(table(recipe).to(targets.device()), {targets});
  }
  virtual bool is_innocent(const std::string& operation, const Value& value) {
    return takes_numbers(operation) && value.sizes.empty() && value.device.is_cpu();
  }

  static Tensor table(const Recipe& recipe) {
    return labrig::tensor(std::vector<float>(recipe.class_weights.begin(), recipe.class_weights.end()));
  }
  // What a file had, moved to where it is wanted.
  static Loaded sorted(const NamedTensors& file, Device device, const Wanted& wanted) {
    Loaded loaded;
    for (const std::string& name : wanted.names) {
      const auto other = wanted.elsewhere.find(name);
      if (const Tensor tensor = labrig::find(file, name); tensor.defined())
        loaded.tensors.emplace_back(name, tensor.to(other == wanted.elsewhere.end() ? device : other->second));
      else
        loaded.missing.push_back(name);
    }
    for (const auto& [name, tensor] : file)
      if (std::ranges::count(wanted.names, name) == 0) loaded.unexpected.push_back(name);
    return loaded;
  }
  static const Value& value_of(const Program& program, const std::string& name) {
    return *std::ranges::find(program.values, name, &Value::name);
  }

 private:
  static std::unique_ptr<labrig::optim::SGD> optimizer_of(const Net& net, const Recipe& recipe) {
    return std::make_unique<labrig::optim::SGD>(net.parameters(), labrig::optim::SgdOptions{.lr = recipe.lr});
  }
  void follow(const Program& program, const std::string& operation, const std::vector<std::string>& names,
              std::set<std::string>& found) {
    const Device home = std::ranges::find(program.values, "parameter", &Value::made_by)->device;
    const auto off = [&](const std::string& name) { return value_of(program, name).device != home; };
    for (const std::string& name : names) {
      const Value& value = value_of(program, name);
      if (!off(name) || is_innocent(operation, value)) continue;
      if (std::ranges::any_of(value.inputs, off))
        follow(program, value.made_by, value.inputs, found);
      else
        found.insert(name);
    }
  }
};

}  // namespace flawed
