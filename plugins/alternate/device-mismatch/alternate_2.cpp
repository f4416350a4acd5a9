// A correct answer of another kind: the model is built on the host and moved as a whole, layers in a Sequential; the
// batches are moved before the loop, and one optimizer gets the new model's parameters by a new group of its own. The
// file is read twice: once to the host for its names. Culprits are found backwards with a list of values still to see.
#include <algorithm>
#include <optional>

#include "interface.hpp"
#include "labrig/io.hpp"
#include "labrig/nn.hpp"
#include "labrig/optim.hpp"

namespace dm = device_mismatch;
namespace nn = labrig::nn;
using labrig::Device;
using labrig::Tensor;

namespace {

class Classifier : public nn::Module {
 public:
  explicit Classifier(const dm::Recipe& recipe)
      : hidden_(recipe.width, recipe.hidden), out_(recipe.hidden, recipe.classes) {
    center_ = register_buffer("center", labrig::empty({recipe.width}));
    register_module("hidden", hidden_);
    register_module("out", out_);
    layers_.push_back(hidden_).push_back(nn::ReLU()).push_back(out_);
  }
  Tensor forward(const Tensor& x) override { return layers_(x - center_); }

 private:
  nn::Linear hidden_, out_;
  nn::Sequential layers_;
  Tensor center_;
};

Classifier ready(const dm::Recipe& recipe, const labrig::NamedTensors& state, Device device) {
  Classifier model(recipe);
  model.load_state_dict(state);
  model.to(device);
  return model;
}

const dm::Value& named(const dm::Program& program, const std::string& name) {
  for (const dm::Value& value : program.values)
    if (value.name == name) return value;
  return program.values.front();
}

}  // namespace

class Modular final : public dm::Submission {
 public:
  dm::Trained train(const dm::Recipe& recipe, Device device) override {
    std::vector<dm::Batch> batches;
    for (const dm::Batch& b : recipe.batches) batches.push_back({b.features.to(device), b.targets.to(device)});
    Tensor weights = labrig::empty({static_cast<std::int64_t>(recipe.class_weights.size())}, device);
    weights.copy_(labrig::tensor(recipe.class_weights));

    Classifier model = ready(recipe, recipe.state, device);
    labrig::optim::SGD optimizer(model.parameters(), {.lr = recipe.lr});
    std::vector<Tensor> losses;
    for (const dm::Batch& batch : batches) {
      if (!losses.empty() && losses.size() == recipe.restart_at) {
        optimizer.zero_grad();  // the old parameters get no gradients any more, and stay as they are
        model = ready(recipe, recipe.restart_state, device);
        optimizer.add_param_group({model.parameters(), {}});
      }
      optimizer.zero_grad();
      const std::int64_t rows = batch.targets.size(0);
      Tensor importance = labrig::ones({rows}, device);
      labrig::mul_(importance, labrig::index(weights, {batch.targets}));
      labrig::mul_(importance, labrig::arange(rows, {labrig::kF32, device}) + 1);
      const Tensor log_p = labrig::log_softmax(model(batch.features) / recipe.temperature, 1);
      const Tensor each = labrig::nll_loss(log_p, batch.targets, {}, labrig::Reduction::none);
      const Tensor loss = sum(importance * each) / (rows * rows);
      loss.backward();
      optimizer.step();
      losses.push_back(loss.detach().unsqueeze(0));
    }
    return {labrig::cat(losses).to("cpu"), model.state_dict()};
  }

  dm::Loaded load(const std::string& path, Device device, const dm::Wanted& wanted) override {
    dm::Loaded loaded;
    const auto has = [](const auto& list, const std::string& name) {
      return std::find(list.begin(), list.end(), name) != list.end();
    };
    std::vector<std::string> in_file;
    for (const auto& [name, tensor] : labrig::io::load(path, "cpu").tensors) in_file.push_back(name);
    for (const std::string& name : in_file)
      if (!has(wanted.names, name)) loaded.unexpected.push_back(name);
    for (const std::string& name : wanted.names)
      if (!has(in_file, name)) loaded.missing.push_back(name);
    const auto where = [&](const std::string& name, Device) {
      if (has(loaded.unexpected, name)) return Device();
      return wanted.elsewhere.contains(name) ? wanted.elsewhere.at(name) : device;
    };
    for (const auto& [name, tensor] : labrig::io::load(path, where).tensors)
      if (has(wanted.names, name)) loaded.tensors.emplace_back(name, tensor);
    return loaded;
  }

  std::vector<std::string> culprit(const dm::Program& program) override {
    std::optional<Device> home;
    for (const dm::Value& value : program.values)
      if (!home && value.made_by == "parameter") home = value.device;
    std::vector<std::string> found;
    std::vector<std::string> open = guilty(program, program.operation, program.operands, *home);
    while (!open.empty()) {
      const dm::Value& value = named(program, open.back());
      open.pop_back();
      const std::vector<std::string> above = guilty(program, value.made_by, value.inputs, *home);
      open.insert(open.end(), above.begin(), above.end());
      if (above.empty() && std::find(found.begin(), found.end(), value.name) == found.end())
        found.push_back(value.name);
    }
    return found;
  }

 private:
  // Of the operands, those off the device that are not excused; numbers are, beside something that is no number.
  static std::vector<std::string> guilty(const dm::Program& program, const std::string& operation,
                                         const std::vector<std::string>& operands, Device home) {
    std::vector<std::string> off, numbers;
    for (const std::string& name : operands) {
      const dm::Value& value = named(program, name);
      const bool number = value.device.is_cpu() && value.sizes.empty();
      if (number && dm::takes_numbers(operation))
        numbers.push_back(name);
      else if (value.device != home)
        off.push_back(name);
    }
    return numbers.size() == operands.size() && !home.is_cpu() ? numbers : off;
  }
};

LABRIG_SUBMISSION(Modular)
