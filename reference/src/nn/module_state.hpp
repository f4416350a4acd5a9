// What the handles on one module share.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "labrig/module.hpp"

namespace labrig::nn {

struct Buffer {
  std::string name;
  Tensor tensor;
  bool persistent = true;
};

struct Module::State {
  NamedTensors parameters;  // undefined ones keep their name taken
  std::vector<Buffer> buffers;
  std::vector<std::pair<std::string, std::shared_ptr<State>>> children;
  bool training = true;

  // visit(state, prefix) of this module, then of each child with "child." before its names, and so on down.
  template <class Visit>
  void walk(const std::string& prefix, const Visit& visit) {
    visit(*this, prefix);
    for (const auto& [name, child] : children) child->walk(prefix + name + ".", visit);
  }
  // Every tensor becomes what `moved` makes of it.
  void move(const std::function<Tensor(const Tensor&)>& moved);
  void check_name(const std::string& name) const;
};

}  // namespace labrig::nn
