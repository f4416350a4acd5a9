// The tree of modules: what is registered where, and what goes through all of it (mode, place, gradients).
// Read next: state_dict.cpp (state in and out), layers.cpp.
#include "labrig/module.hpp"

#include <cxxabi.h>

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <typeinfo>

#include "graph/meta.hpp"
#include "labrig/autograd.hpp"
#include "labrig/error.hpp"
#include "nn/gradients.hpp"
#include "nn/module_state.hpp"
#include "tensor/impl.hpp"

namespace labrig::nn {
namespace {

// The tensor itself, with the memory, shape and type of `data` from now on: all handles on it see that. A step of a
// graph that waits to add to its gradient knows the old place, so a new graph gets a new one.
void set_data(const Tensor& tensor, const Tensor& data) {
  tensor.impl()->show(impl_of(data));
  if (tensor.impl()->meta) tensor.impl()->meta->accumulator.reset();
}

void add_once(NamedTensors& all, const std::string& name, const Tensor& tensor) {
  if (!tensor.defined()) return;
  const bool known = std::ranges::any_of(all, [&](const auto& entry) { return entry.second.is_same(tensor); });
  if (!known) all.emplace_back(name, tensor);
}

Error bad_name(const std::string& what, const std::string& why) {
  return Error("bad-name", what, why, "give each part of a module a name of its own, without dots");
}

Error no_forward(const std::string& type) {
  return Error("no-forward", "Module [" + type + "] is missing the required \"forward\" function",
               type + " does not say what it computes of one tensor",
               "override forward(const Tensor&), or call the function of " + type + " that takes other arguments");
}

}  // namespace

Module::Module() : state_(std::make_shared<State>()) {}
Module::Module(std::shared_ptr<State> state) : state_(std::move(state)) {}
Module::~Module() = default;

std::string Module::type_name() const {
  int status = 0;
  const std::unique_ptr<char, void (*)(void*)> name(
      abi::__cxa_demangle(typeid(*this).name(), nullptr, nullptr, &status), std::free);
  const std::string full = status == 0 ? name.get() : "Module";
  const auto colon = full.substr(0, full.find('<')).rfind(':');
  return colon == std::string::npos ? full : full.substr(colon + 1);
}

Tensor Module::forward(const Tensor&) { throw no_forward(type_name()); }

// --- what it is made of ----------------------------------------------------------------------------------------------

NamedTensors Module::named_parameters() const {
  NamedTensors all;
  state_->walk("", [&](const State& state, const std::string& prefix) {
    for (const auto& [name, tensor] : state.parameters) add_once(all, prefix + name, tensor);
  });
  return all;
}

std::vector<Tensor> Module::parameters() const {
  std::vector<Tensor> tensors;
  for (const auto& [name, tensor] : named_parameters()) tensors.push_back(tensor);
  return tensors;
}

NamedTensors Module::named_buffers() const {
  NamedTensors all;
  state_->walk("", [&](const State& state, const std::string& prefix) {
    for (const Buffer& buffer : state.buffers) add_once(all, prefix + buffer.name, buffer.tensor);
  });
  return all;
}

std::vector<std::pair<std::string, Module>> Module::named_children() const {
  std::vector<std::pair<std::string, Module>> children;
  for (const auto& [name, child] : state_->children) children.emplace_back(name, Module(child));
  return children;
}

// --- mode ------------------------------------------------------------------------------------------------------------

Module& Module::train(bool on) {
  state_->walk("", [&](State& state, const std::string&) { state.training = on; });
  return *this;
}

bool Module::is_training() const { return state_->training; }

Module& Module::requires_grad_(bool on) {
  for (const Tensor& parameter : parameters()) parameter.requires_grad_(on);
  return *this;
}

void Module::zero_grad(bool set_to_none) { zero_gradients(parameters(), set_to_none); }

// --- where it lives --------------------------------------------------------------------------------------------------

void Module::State::move(const std::function<Tensor(const Tensor&)>& moved) {
  const NoGradGuard guard;
  const auto move_one = [&](const Tensor& tensor) {
    const Tensor data = moved(tensor);
    if (!data.is_same(tensor)) set_data(tensor, data);
  };
  walk("", [&](const State& state, const std::string&) {
    for (const auto& [name, tensor] : state.parameters) {
      if (!tensor.defined()) continue;
      move_one(tensor);
      if (tensor.grad().defined()) move_one(tensor.grad());
    }
    for (const Buffer& buffer : state.buffers) {
      if (buffer.tensor.defined()) move_one(buffer.tensor);
    }
  });
}

namespace {

void check_floating_point(Dtype dtype) {
  if (is_floating_point(dtype)) return;
  const char* const name = dtype == kI64 ? "int64" : dtype == kI32 ? "int32" : dtype == kU8 ? "uint8" : "bool";
  throw Error(
      "dtype-mismatch",
      std::string("nn.Module.to only accepts floating point or complex dtypes, but got desired dtype=torch.") + name,
      "parameters are learnt by small steps, which whole numbers cannot take",
      "convert the tensor that you need as whole numbers by itself");
}

}  // namespace

Module& Module::to(Device device) {
  state_->move([device](const Tensor& tensor) { return tensor.to(device); });
  return *this;
}

Module& Module::to(Dtype dtype) {
  check_floating_point(dtype);
  state_->move([dtype](const Tensor& tensor) { return is_floating_point(tensor.dtype()) ? tensor.to(dtype) : tensor; });
  return *this;
}

Module& Module::to(Device device, Dtype dtype) {
  check_floating_point(dtype);
  state_->move([device, dtype](const Tensor& tensor) {
    return tensor.to(device, is_floating_point(tensor.dtype()) ? dtype : tensor.dtype());
  });
  return *this;
}

// --- registering -----------------------------------------------------------------------------------------------------

void Module::State::check_name(const std::string& name) const {
  if (name.empty()) throw bad_name("parameter name can't be empty string \"\"", "a state dict could not name it");
  if (name.find('.') != std::string::npos) {
    throw bad_name("parameter name can't contain \".\"", "'" + name + "' would look like a part of a child");
  }
  const auto is_it = [&](const auto& entry) { return entry.first == name; };
  if (std::ranges::any_of(parameters, is_it) || std::ranges::any_of(children, is_it) ||
      std::ranges::any_of(buffers, [&](const Buffer& buffer) { return buffer.name == name; })) {
    throw bad_name("attribute '" + name + "' already exists", "this module has registered that name before");
  }
}

Tensor Module::register_parameter(const std::string& name, const Tensor& tensor) {
  state_->check_name(name);
  if (tensor.defined() && !tensor.is_leaf()) {
    throw Error("not-a-leaf",
                "Cannot assign non-leaf Tensor to parameter '" + name +
                    "'. Model parameters must be created explicitly. To express '" + name +
                    "' as a function of another Tensor, compute the value in the forward() method.",
                "it is the result of " + tensor.grad_fn() + ", so its gradient would go on to what it was made from",
                "register tensor.detach(), or compute it in forward()");
  }
  Tensor parameter = tensor;
  if (parameter.defined()) parameter.set_name(name).requires_grad_();
  state_->parameters.emplace_back(name, parameter);
  return parameter;
}

Tensor Module::register_buffer(const std::string& name, const Tensor& tensor, bool persistent) {
  state_->check_name(name);
  Tensor buffer = tensor;
  if (buffer.defined()) buffer.set_name(name);
  state_->buffers.push_back({name, buffer, persistent});
  return buffer;
}

void Module::register_module(const std::string& name, const Module& child) {
  state_->check_name(name);
  child.state_->walk("", [&](const State& state, const std::string&) {
    if (&state == state_.get())
      throw bad_name("'" + name + "' contains the module that it is to be a part of",
                     "a module that contains itself has no end");
  });
  state_->children.emplace_back(name, child.state_);
  const std::string prefix = name + ".";
  for (auto& [path, tensor] : child.named_parameters()) tensor.set_name(prefix + path);
  for (auto& [path, tensor] : child.named_buffers()) tensor.set_name(prefix + path);
}

}  // namespace labrig::nn
