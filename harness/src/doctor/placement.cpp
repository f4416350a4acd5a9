#include "doctor/placement.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "labrig/autograd.hpp"
#include "labrig/nn.hpp"
#include "labrig/ops.hpp"
#include "labrig/optim.hpp"

namespace labrig::doctor {
namespace {

bool same_bytes(const Tensor& a, const Tensor& b) {
  const Tensor first = a.contiguous(), second = b.contiguous();
  return first.nbytes() == second.nbytes() &&
         (first.nbytes() == 0 || std::memcmp(first.data_ptr(), second.data_ptr(), first.nbytes()) == 0);
}

class Trial {
 public:
  Trial(Device device, std::vector<std::string>& problems) : device_(device), problems_(problems) {}

  void expect(const Tensor& tensor, const std::string& name, const Tensor& values) {
    ++looked_at_;
    const std::string problem = misplaced(tensor, {name, device_, values.dtype(), values.sizes()}, values);
    if (!problem.empty()) problems_.push_back(problem);
  }
  Device device() const { return device_; }
  int looked_at() const { return looked_at_; }

 private:
  Device device_;
  std::vector<std::string>& problems_;
  int looked_at_ = 0;
};

// A tensor as it is, with gaps, turned, and empty: there and back.
void try_tensors(Trial& trial, Dtype dtype) {
  const Tensor whole = arange(15).view({3, 5}).to(dtype);
  const std::string type = name_of(dtype);
  trial.expect(whole.to(trial.device()), type + " tensor", whole);
  trial.expect(whole.t().to(trial.device()), "transposed " + type + " tensor", whole.t());
  trial.expect(whole.slice(1, 0, 5, 2).to(trial.device()), type + " tensor with gaps", whole.slice(1, 0, 5, 2));
  const Tensor moved = whole.to(trial.device());
  trial.expect(moved.t(), type + " view on the device", whole.t());
  trial.expect(empty({0, 3}, Options(dtype, trial.device())), "empty " + type + " tensor", empty({0, 3}, dtype));
  trial.expect(ones({2, 2}, Options(dtype, trial.device())), type + " tensor made there", ones({2, 2}, dtype));
}

struct Model : nn::Module {
  Model() {
    register_module("linear", linear);
    register_module("norm", norm);
  }
  Tensor forward(const Tensor& x) override { return norm(linear(x)); }
  nn::Linear linear{4, 3};
  nn::BatchNorm1d norm{3};
};

using Named = std::vector<std::pair<std::string, Tensor>>;

Named copies_of(const NamedTensors& tensors) {
  Named copies;
  for (const auto& [name, tensor] : tensors) copies.emplace_back(name, tensor.detach().to(Device{}, false, true));
  return copies;
}

void expect_all(Trial& trial, const NamedTensors& tensors, const Named& values, const std::string& what) {
  std::size_t i = 0;
  for (const auto& [name, tensor] : tensors)
    trial.expect(tensor.detach(), fmt::format("{} {}", what, name), values.at(i++).second);
}

// A model of each floating point type, moved; parameters and buffers.
void try_model(Trial& trial, Dtype dtype) {
  Model model;
  model.to(dtype);
  const Named parameters = copies_of(model.named_parameters()), buffers = copies_of(model.named_buffers());
  model.to(trial.device());
  expect_all(trial, model.named_parameters(), parameters, std::string(name_of(dtype)) + " parameter");
  expect_all(trial, model.named_buffers(), buffers, std::string(name_of(dtype)) + " buffer");
}

// A step of training: gradients and the optimizer's memory lie with the parameters, and what is loaded lies there
// again.
void try_optimizer(Trial& trial) {
  Model model;
  model.to(trial.device());
  optim::Adam adam(model.parameters());
  labrig::sum(model(ones({2, 4}, trial.device()))).backward();
  for (const Tensor& parameter : model.parameters())
    trial.expect(parameter.grad(), "gradient of " + parameter.name(), parameter.grad().cpu());
  adam.step();
  const optim::State before = adam.state_dict();
  optim::Adam other(model.parameters());
  other.load_state_dict(before);
  for (const auto& [index, tensors] : other.state_dict().state)
    for (const auto& [name, tensor] : tensors)
      if (tensor.dim() > 0)  // the number of steps is a figure of the host
        trial.expect(tensor, fmt::format("optimizer state {} of parameter {}", name, index),
                     before.state.at(index).at(name).cpu());
}

Facts parameters_of(Device device) {
  Model model;
  model.to(device);
  const std::vector<Tensor> parameters = model.parameters();
  std::int64_t count = 0;
  for (const Tensor& parameter : parameters) count += parameter.numel();
  return {{"device", parameters.at(0).device().str()}, {"dtype", name_of(parameters.at(0).dtype())}, {"count", count}};
}

std::vector<Device> devices_but(const std::vector<std::string>& unusable) {
  std::vector<Device> devices = {Device()};
  for (const DeviceType type : {DeviceType::sim, DeviceType::cuda})
    for (int i = 0; i < device_count(type); ++i)
      if (const Device device(type, i); std::ranges::find(unusable, device.str()) == unusable.end())
        devices.push_back(device);
  return devices;
}

}  // namespace

std::string misplaced(const Tensor& tensor, const Placed& asked, const Tensor& values) {
  const std::string there = fmt::format("{} asked for on {}", asked.name, asked.device.str());
  if (!tensor.defined()) return there + " is not there at all";
  if (tensor.device() != asked.device) return fmt::format("{} lies on {}", there, tensor.device().str());
  if (tensor.dtype() != asked.dtype)
    return fmt::format("{} is {}, not {}", there, name_of(tensor.dtype()), name_of(asked.dtype));
  if (tensor.sizes() != asked.sizes) return there + " has other sizes";
  if (!same_bytes(tensor.cpu(), values)) return there + " came back with other values";
  return "";
}

Facts place_on(Device device, std::vector<std::string>& problems) {
  Trial trial(device, problems);
  Facts dtypes = Facts::array(), parameters;
  try {
    for (int i = 0; i < kDtypeCount; ++i) {
      const auto dtype = static_cast<Dtype>(i);
      try_tensors(trial, dtype);
      if (is_floating_point(dtype)) try_model(trial, dtype);
      dtypes.push_back(name_of(dtype));
    }
    try_optimizer(trial);
    parameters = parameters_of(device);
  } catch (const Error& error) {
    problems.push_back(device.str() + ": " + error.what() + ": " + error.why());
  }
  return {{"device", device.str()}, {"tensors", trial.looked_at()}, {"dtypes", dtypes}, {"parameters", parameters}};
}

Check placement_verdict(const Facts& rows, const std::vector<std::string>& needed,
                        const std::vector<std::string>& cards) {
  std::vector<std::string> problems = needed;
  problems.insert(problems.end(), cards.begin(), cards.end());
  const Facts facts = {{"devices", rows}, {"problems", problems}};
  std::string names;
  for (const Facts& row : rows) names += (names.empty() ? "" : ", ") + row.at("device").get<std::string>();
  if (problems.empty()) return passed("placement", "tensors, models, optimizers lie where asked: " + names, facts);
  const Advice advice = {
      problems.front(), fmt::format("of what was placed on {}, {} did not come out as asked", names, problems.size()),
      "this is a fault of labrig or of the card: report it with the output of `labrig doctor --json`"};
  return needed.empty() ? warned("placement", advice, facts) : failed("placement", advice, facts);
}

Check placement(const std::vector<std::string>& unusable) {
  Facts rows = Facts::array();
  std::vector<std::string> needed, cards;
  for (const Device device : devices_but(unusable))
    rows.push_back(place_on(device, device.type() == DeviceType::cuda ? cards : needed));
  return placement_verdict(rows, needed, cards);
}

Check device_check(const std::string& expected) {
  const char* forced = std::getenv("LABRIG_DEVICE");
  const bool asked = !expected.empty(), by_variable = !asked && forced != nullptr && *forced != '\0';
  Facts facts = {{"asked_for", asked         ? Facts(expected)
                               : by_variable ? Facts(forced)
                                             : Facts()},
                 {"asked_by", asked         ? Facts("--device")
                              : by_variable ? Facts("LABRIG_DEVICE")
                                            : Facts()}};
  try {
    const Device device = asked ? resolve(Device(expected)) : pick_device();
    static_cast<void>(labrig::sum(ones({2, 2}, device)).item());
    facts["device"] = device.str();
    return passed("device",
                  device.str() + (asked         ? ", as expected"
                                  : by_variable ? ", as LABRIG_DEVICE says"
                                                : ": what pick_device() gives your own programs"),
                  facts);
  } catch (const Error& error) {
    facts["device"] = Facts();
    const std::string why = std::string(error.what()) + ": " + error.why();
    if (asked) return failed("device", {expected + " is expected and cannot be used", why, error.fix()}, facts);
    const std::string where = by_variable ? std::string(forced) + ", which LABRIG_DEVICE names,"
                                          : "what pick_device() gives your own programs";
    return warned("device",
                  {where + " cannot be used", why,
                   error.fix() + (by_variable ? "; or `unset LABRIG_DEVICE`" : "; or `export LABRIG_DEVICE=cpu`")},
                  facts);
  }
}

}  // namespace labrig::doctor
