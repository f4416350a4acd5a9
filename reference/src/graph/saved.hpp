// What a node keeps of the forward pass: tensors, each with the number of changes that its memory had seen by then.
// They are most of the memory that training takes, so they can be let go before the node itself.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "labrig/tensor.hpp"

namespace labrig::graph {

class Node;

// A tensor kept for the way back: its memory, not its history. get() throws `modified-in-place` when the memory was
// written since, and `graph-freed` after it was let go.
class SavedTensor {
 public:
  SavedTensor() = default;  // of an undefined tensor
  Tensor get() const;

 private:
  friend class Saver;
  friend class SavedChain;
  struct State;
  explicit SavedTensor(std::shared_ptr<State> state) : state_(std::move(state)) {}
  std::shared_ptr<State> state_;
};

// All tensors that one node keeps.
class SavedChain {
 public:
  void release() const;
  std::vector<const TensorImpl*> tensors() const;

 private:
  friend class Saver;
  std::shared_ptr<SavedTensor::State> first_;
};

class Saver {
 public:
  // `out`: what the operator made, or changed in place.
  Saver(const char* node, const Tensor& out, std::span<const Tensor* const> inputs,
        const std::vector<std::shared_ptr<Node>>& edges)
      : node_(node), out_(out), inputs_(inputs), edges_(edges) {}
  // `tensor` may be an input, the output or a tensor of the operator's own; an undefined one gives an empty result.
  SavedTensor operator()(const Tensor& tensor) const;
  // The same when the gradient of input i will be asked for, else an empty one.
  SavedTensor if_wanted(int i, const Tensor& tensor) const { return wanted(i) ? (*this)(tensor) : SavedTensor{}; }
  bool wanted(int i) const { return edges_[static_cast<std::size_t>(i)] != nullptr; }
  const SavedChain& chain() const { return chain_; }

 private:
  const char* producer_of(const Tensor& tensor) const;

  const char* node_;
  const Tensor& out_;
  std::span<const Tensor* const> inputs_;
  const std::vector<std::shared_ptr<Node>>& edges_;
  mutable SavedChain chain_;
};

}  // namespace labrig::graph
