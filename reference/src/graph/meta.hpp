// What a tensor has to do with gradients. Made when it first has.
#pragma once

#include <memory>

#include "graph/node.hpp"
#include "labrig/tensor.hpp"

namespace labrig::graph {

struct Meta {
  bool requires_grad = false;  // of a leaf: asked for
  bool retains_grad = false;   // not a leaf, and grad is wanted all the same
  std::uint32_t version = 0;   // of a view: of the memory when `node` was noted
  Tensor grad;
  std::shared_ptr<Node> node;       // the step that leads back; null for a leaf; read it through node_of()
  std::weak_ptr<Node> accumulator;  // of a leaf: the step that adds to `grad`
  Tensor base;                      // of a view: what it is a view of, itself none
};

// That of a tensor, made if there is none.
Meta& meta_of(const Tensor& tensor);
// The step that made the tensor, null for a leaf. A view whose memory was changed since it was made comes from its
// changed base: it gets a new step here.
const std::shared_ptr<Node>& node_of(const Tensor& tensor);
void set_node(const Tensor& tensor, std::shared_ptr<Node> node);
// The step that a gradient of this tensor goes to: the one that made it, the accumulator of a leaf that requires a
// gradient, or null.
std::shared_ptr<Node> edge_of(const Tensor& tensor);
// `view` shares the memory of `of`, and what is done to one is done to the other. Without a call, as after detach(),
// the two share only the count of changes.
void note_view(const Tensor& view, const Tensor& of);

}  // namespace labrig::graph
