// What a tensor has to do with gradients. Made when it first has.
#pragma once

#include <memory>

#include "labrig/tensor.hpp"

namespace labrig::graph {

class Node;

struct Meta {
  bool requires_grad = false;  // of a leaf: asked for
  bool retains_grad = false;   // not a leaf, and grad is wanted all the same
  Tensor grad;
  std::shared_ptr<Node> node;       // the step that leads back; null for a leaf
  std::weak_ptr<Node> accumulator;  // of a leaf: the step that adds to `grad`
};

// That of a tensor, made if there is none.
Meta& meta_of(const Tensor& tensor);
// The step that a gradient of this tensor goes to: the one that made it, the accumulator of a leaf that requires a
// gradient, or null.
std::shared_ptr<Node> edge_of(const Tensor& tensor);

}  // namespace labrig::graph
