// The graph of a forward pass: one Node for each operator that was applied to something that requires a gradient, which
// holds what the way back needs and the nodes that it leads to. An operator makes its node at its end:
//
//   Tensor mul(const Tensor& a, const Tensor& b) {
//     Tensor out = ...;
//     graph::record("MulBackward0", out, {&a, &b}, [&](graph::Saver& save) {
//       return [a = save.if_wanted(1, a), b = save.if_wanted(0, b), ...](const Tensor& gradient, graph::Gradients& to)
//       {
//         if (to.wanted(0)) to.give(0, sum_to_size(mul(gradient, b.get()), a_sizes));
//         if (to.wanted(1)) to.give(1, sum_to_size(mul(gradient, a.get()), b_sizes));
//       };
//     });
//     return out;
//   }
//
// The outer lambda runs only when a gradient is needed; the inner one runs in backward(), without noting anything
// itself. Every operator has one output. Read next: ../autograd/engine.cpp (who walks the graph), meta.hpp.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "labrig/tensor.hpp"
#include "tensor/impl.hpp"

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
  struct State;
  std::shared_ptr<State> state_;
};

class Saver {
 public:
  Saver(const char* node, std::span<const Tensor* const> inputs) : node_(node), inputs_(inputs) {}
  // `tensor` may be an input, the output or a tensor of the operator's own; an undefined one gives an empty result.
  SavedTensor operator()(const Tensor& tensor) const;
  // The same when the gradient of input i will be asked for, else an empty one.
  SavedTensor if_wanted(int i, const Tensor& tensor) const { return wanted(i) ? (*this)(tensor) : SavedTensor{}; }
  bool wanted(int i) const;

 private:
  const char* node_;
  std::span<const Tensor* const> inputs_;
};

// Where a node puts the gradients of its inputs.
class Gradients {
 public:
  explicit Gradients(const Node& node);
  bool wanted(int input) const;
  void give(int input, Tensor gradient) { given_[static_cast<std::size_t>(input)] = std::move(gradient); }
  std::vector<Tensor>& all() { return given_; }

 private:
  const Node& node_;
  std::vector<Tensor> given_;
};

using Backward = std::function<void(const Tensor& gradient, Gradients& to)>;

class Node {
 public:
  Node(std::string name, std::vector<std::shared_ptr<Node>> inputs, Backward backward);

  const std::string& name() const { return name_; }
  // The nodes that the gradients of the inputs go to; null for an input that needs none.
  const std::vector<std::shared_ptr<Node>>& inputs() const { return inputs_; }
  // Nodes are numbered as they are made, so that a node's number is above those of its inputs.
  std::uint64_t sequence() const { return sequence_; }
  // Throws `graph-freed` after release().
  std::vector<Tensor> run(const Tensor& gradient) const;
  // Lets go what was saved.
  void release() { backward_ = nullptr; }

 private:
  std::string name_;
  std::vector<std::shared_ptr<Node>> inputs_;
  std::uint64_t sequence_;
  Backward backward_;
};

// True when gradients are on and one of these requires one.
bool is_needed(std::span<const Tensor* const> inputs);
// `out` was made from `inputs` by this step.
void attach(const char* name, const Tensor& out, std::span<const Tensor* const> inputs, Backward backward);

template <class Make>
void record(const char* name, const Tensor& out, std::span<const Tensor* const> inputs, Make&& make) {
  if (!is_needed(inputs)) return;
  Saver save(name, inputs);
  attach(name, out, inputs, make(save));
}
template <class Make>
void record(const char* name, const Tensor& out, std::initializer_list<const Tensor*> inputs, Make&& make) {
  record(name, out, std::span<const Tensor* const>(inputs.begin(), inputs.size()), std::forward<Make>(make));
}

// An operation in place on `self`: the check comes before the kernel runs (throws `leaf-in-place`, with PyTorch's
// text), the record after it; what `make` saves of `self` is its new value. Counts the change.
void check_in_place(const Tensor& self);
void changed_in_place(const Tensor& self);
template <class Make>
void record_in_place(const char* name, const Tensor& self, std::initializer_list<const Tensor*> inputs, Make&& make) {
  changed_in_place(self);
  record(name, self, inputs, std::forward<Make>(make));
}

}  // namespace labrig::graph
