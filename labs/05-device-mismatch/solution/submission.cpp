// Lab 05, device-mismatch: the reference solution. The device comes in as an argument and is passed on to everything
// that is made; order: build, move, load, then optimizer. A checkpoint is mapped while it is read. A culprit is found
// by walking the data flow upwards.
#include <algorithm>
#include <set>

#include "interface.hpp"
#include "labrig/io.hpp"
#include "labrig/nn.hpp"
#include "labrig/optim.hpp"

using namespace device_mismatch;
using labrig::Device;
using labrig::NamedTensors;
using labrig::Tensor;

namespace {

struct Net : labrig::nn::Module {
  labrig::nn::Linear hidden, out;
  Tensor center;  // registered: it moves with the model, and is part of its state

  Net(const Recipe& r, Device device)
      : hidden(r.width, r.hidden, true, device),
        out(r.hidden, r.classes, true, device),
        center(register_buffer("center", labrig::zeros({r.width}, device))) {
    register_module("hidden", hidden);
    register_module("out", out);
  }
  Tensor forward(const Tensor& x) override { return out(relu(hidden(x - center))); }
};

}  // namespace

class Solution : public Submission {
 public:
  Trained train(const Recipe& recipe, Device device) override {
    Net net(recipe, device);
    net.load_state_dict(recipe.state);
    auto optimizer = optimizer_of(net, recipe);
    const std::vector<float> weights(recipe.class_weights.begin(), recipe.class_weights.end());
    const Tensor class_weights = labrig::tensor(weights).to(device);  // once, not in every step

    std::vector<Tensor> losses;
    for (std::size_t step = 0; step < recipe.batches.size(); ++step) {
      if (step > 0 && step == recipe.restart_at) {
        net = Net(recipe, device);  // new parameters …
        net.load_state_dict(recipe.restart_state);
        optimizer = optimizer_of(net, recipe);  // … which the old optimizer does not know
      }
      const Tensor features = recipe.batches[step].features.to(device),
                   targets = recipe.batches[step].targets.to(device);
      const std::int64_t rows = targets.size(0);
      const Tensor newness = (labrig::arange(rows, {labrig::kF32, device}) + 1) / rows;  // born on the device
      const Tensor importance = labrig::index(class_weights, {targets}) * newness;
      const Tensor scores = net(features) / recipe.temperature;  // a number on the CPU may stay there
      const Tensor each = labrig::cross_entropy(scores, targets, {}, labrig::Reduction::none);
      const Tensor loss = sum(importance * each) / rows;
      net.zero_grad();
      loss.backward();
      optimizer->step();
      losses.push_back(loss.detach());
    }
    return {labrig::stack(losses).cpu(), net.state_dict()};  // the one trip back
  }

  Loaded load(const std::string& path, Device device, const Wanted& wanted) override {
    const auto place = [&](const std::string& name, Device /*saved*/) {
      if (std::ranges::find(wanted.names, name) == wanted.names.end()) return Device();  // nobody asks for it
      const auto found = wanted.elsewhere.find(name);
      return found == wanted.elsewhere.end() ? device : found->second;
    };
    const NamedTensors file = labrig::io::load(path, place).tensors;
    Loaded loaded;
    for (const std::string& name : wanted.names) {
      if (const Tensor tensor = find(file, name); tensor.defined())
        loaded.tensors.emplace_back(name, tensor);
      else
        loaded.missing.push_back(name);
    }
    for (const auto& [name, tensor] : file)
      if (std::ranges::find(wanted.names, name) == wanted.names.end()) loaded.unexpected.push_back(name);
    return loaded;
  }

  std::vector<std::string> culprit(const Program& program) override {
    std::vector<std::string> culprits;
    std::set<std::string> seen;
    follow(program, program.operation, program.operands, culprits, seen);
    return culprits;
  }

 private:
  static std::unique_ptr<labrig::optim::SGD> optimizer_of(const Net& net, const Recipe& recipe) {
    return std::make_unique<labrig::optim::SGD>(net.parameters(), labrig::optim::SgdOptions{.lr = recipe.lr});
  }

  static const Value& value_of(const Program& program, const std::string& name) {
    return *std::ranges::find(program.values, name, &Value::name);
  }
  static bool is_number(const Value& value) { return value.sizes.empty() && value.device.is_cpu(); }

  // From the operands of an operation that are off the program's device to where each of them begins.
  static void follow(const Program& program, const std::string& operation, const std::vector<std::string>& operands,
                     std::vector<std::string>& culprits, std::set<std::string>& seen) {
    const Device home = std::ranges::find(program.values, "parameter", &Value::made_by)->device;
    const auto off = [&](const std::string& name) { return value_of(program, name).device != home; };
    const auto plain_number = [&](const std::string& name) { return is_number(value_of(program, name)); };
    const bool all_numbers = std::ranges::all_of(operands, plain_number);
    for (const std::string& name : operands) {
      const bool innocent = takes_numbers(operation) && plain_number(name) && !all_numbers;
      if (!off(name) || innocent || !seen.insert(name).second) continue;
      const Value& value = value_of(program, name);
      if (std::ranges::any_of(value.inputs, off))
        follow(program, value.made_by, value.inputs, culprits, seen);
      else
        culprits.push_back(name);
    }
  }
};

LABRIG_SUBMISSION(Solution)
