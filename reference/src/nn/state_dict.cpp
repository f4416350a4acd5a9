// The state of a module by name, out and in. The problems are gathered over the whole tree and told at once, in the
// order and the words of PyTorch.
#include <algorithm>

#include "labrig/autograd.hpp"
#include "labrig/error.hpp"
#include "nn/module_state.hpp"

namespace labrig::nn {
namespace {

// Of one module alone, under names with the prefix.
NamedTensors own_state(const auto& state, const std::string& prefix) {
  NamedTensors own;
  for (const auto& [name, tensor] : state.parameters) {
    if (tensor.defined()) own.emplace_back(prefix + name, tensor);
  }
  for (const Buffer& buffer : state.buffers) {
    if (buffer.tensor.defined() && buffer.persistent) own.emplace_back(prefix + buffer.name, buffer.tensor);
  }
  return own;
}

// The keys with the prefix that a module has no place for; what belongs to a child is the child's affair.
void add_unexpected(std::vector<std::string>& unexpected, const auto& state, const std::string& prefix,
                    const NamedTensors& own, const NamedTensors& saved) {
  for (const auto& [key, tensor] : saved) {
    if (!key.starts_with(prefix)) continue;
    const auto dot = key.find('.', prefix.size());
    const bool expected = dot == std::string::npos
                              ? find(own, key).defined()
                              : std::ranges::any_of(state.children, [&](const auto& child) {
                                  return key.compare(prefix.size(), dot - prefix.size(), child.first) == 0;
                                });
    if (!expected) unexpected.push_back(key);
  }
}

std::string size_mismatch(const std::string& name, const Tensor& saved, const Tensor& ours) {
  return "size mismatch for " + name + ": copying a param with shape torch.Size(" + saved.sizes().str() +
         ") from checkpoint, the shape in current model is torch.Size(" + ours.sizes().str() + ").";
}

std::string key_list(const char* kind, const std::vector<std::string>& keys) {
  std::string list;
  for (const std::string& key : keys) list += (list.empty() ? "\"" : ", \"") + key + "\"";
  return std::string(kind) + " key(s) in state_dict: " + list + ". ";
}

Error state_error(const std::string& type, const std::vector<std::string>& problems, bool names_differ) {
  std::string what = "Error(s) in loading state_dict for " + type + ":";
  for (const std::string& problem : problems) what += "\n\t" + problem;
  return Error("state-dict", what,
               "the state was saved from a model of another make; what has the same name and shape has been copied",
               names_differ ? "build the model as it was when it was saved, or rename the keys of the state; strict = "
                              "false takes what fits by name"
                            : "build the model with the sizes of the saved one");
}

}  // namespace

NamedTensors Module::state_dict() const {
  NamedTensors all;
  state_->walk("", [&](const State& state, const std::string& prefix) {
    for (const auto& [name, tensor] : own_state(state, prefix)) all.emplace_back(name, tensor.detach());
  });
  return all;
}

IncompatibleKeys Module::load_state_dict(const NamedTensors& saved, bool strict) {
  const NoGradGuard guard;
  IncompatibleKeys keys;
  std::vector<std::string> problems;
  state_->walk("", [&](const State& state, const std::string& prefix) {
    const NamedTensors own = own_state(state, prefix);
    for (const auto& [name, ours] : own) {
      const Tensor theirs = find(saved, name);
      if (!theirs.defined()) {
        keys.missing.push_back(name);
      } else if (theirs.sizes() != ours.sizes()) {
        problems.push_back(size_mismatch(name, theirs, ours));
      } else {
        ours.copy_(theirs);
      }
    }
    add_unexpected(keys.unexpected, state, prefix, own, saved);
  });
  const bool names_differ = strict && !(keys.missing.empty() && keys.unexpected.empty());
  if (strict && !keys.unexpected.empty()) problems.insert(problems.begin(), key_list("Unexpected", keys.unexpected));
  if (strict && !keys.missing.empty()) problems.insert(problems.begin(), key_list("Missing", keys.missing));
  if (!problems.empty()) throw state_error(type_name(), problems, names_differ);
  return keys;
}

}  // namespace labrig::nn
