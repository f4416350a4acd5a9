// Tensors by name, in order: what a model hands out as its state and what a checkpoint file holds. Names are PyTorch's,
// as "0.weight" or "norm.running_mean". Read next: module.hpp (a model's state), io.hpp (files).
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "labrig/tensor.hpp"

namespace labrig {

using NamedTensors = std::vector<std::pair<std::string, Tensor>>;

// The first tensor of that name; undefined when there is none.
inline Tensor find(const NamedTensors& tensors, std::string_view name) {
  for (const auto& [known, tensor] : tensors) {
    if (known == name) return tensor;
  }
  return {};
}

}  // namespace labrig
