// The graph of a forward pass: one Node for each operator that was applied to something that requires a gradient, which
// holds what the way back needs and the nodes that it leads to. An operator makes its node at its end:
//
//   Tensor mul(const Tensor& a, const Tensor& b) {
//     Tensor out = ...;
//     graph::record("MulBackward0", out, {&a, &b}, [&](graph::Saver& save) {
//       return [a_sizes = a.sizes(), b_sizes = b.sizes(), a = save.if_wanted(1, a), b = save.if_wanted(0, b)](
//                  const Tensor& gradient, graph::Gradients& to) {
//         if (to.wanted(0)) to.give(0, sum_to_size(mul(gradient, b.get()), a_sizes));
//         if (to.wanted(1)) to.give(1, sum_to_size(mul(gradient, a.get()), b_sizes));
//       };
//     });
//     return out;
//   }
//
// The outer lambda runs only when a gradient is needed; the inner one runs in backward(), without noting anything
// itself. A tensor that the way back needs is kept by the saver and by nothing else: only then can backward() let it
// go. Every operator has one output. Read next: saved.hpp, ../autograd/engine.cpp (who walks the graph), meta.hpp.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "graph/saved.hpp"
#include "labrig/tensor.hpp"
#include "tensor/impl.hpp"

namespace labrig::graph {

class Node;
struct Meta;
// The nodes that the gradients of an operator's inputs go to; null for an input that needs none.
using Edges = std::vector<std::shared_ptr<Node>>;

// Where a node puts the gradients of its inputs.
class Gradients {
 public:
  explicit Gradients(std::vector<bool> wanted) : wanted_(std::move(wanted)), given_(wanted_.size()) {}
  bool wanted(int input) const { return wanted_[static_cast<std::size_t>(input)]; }
  void give(int input, Tensor gradient) { given_[static_cast<std::size_t>(input)] = std::move(gradient); }
  std::vector<Tensor>& all() { return given_; }

 private:
  std::vector<bool> wanted_;
  std::vector<Tensor> given_;
};

using Backward = std::function<void(const Tensor& gradient, Gradients& to)>;

// Shared by the tensor that it made and by the nodes behind it.
class Node {
 public:
  // `name` lives as long as the program; `out` is what the step made.
  Node(const char* name, const Tensor& out, Edges inputs, Backward backward, SavedChain saved = {});
  // Lets go the nodes that only this one keeps, however many they are, without recursion.
  ~Node();
  Node(const Node&) = delete;
  Node& operator=(const Node&) = delete;

  const char* name() const { return name_; }
  const Edges& inputs() const { return inputs_; }
  // The step at the end of the way that adds to a leaf's grad().
  bool is_accumulator() const { return inputs_.empty(); }
  // Nodes are numbered as they are made, so that a node's number is above those of its inputs.
  std::uint64_t sequence() const { return sequence_; }
  // Of the forward's output, which a gradient that arrives must match.
  const Dims& sizes() const { return sizes_; }
  Dtype dtype() const { return dtype_; }
  Device device() const { return device_; }
  // Of `device`: the one that the forward was queued in.
  StreamId stream() const { return stream_; }

  void run(const Tensor& gradient, Gradients& to) const { backward_(gradient, to); }
  // Lets go what was saved; a run that needs it throws `graph-freed` from then on.
  void release() { saved_.release(); }
  const SavedChain& saved() const { return saved_; }

  // Whose grad() is wanted although it is no leaf.
  void retain_for(std::weak_ptr<Meta> meta) { retained_ = std::move(meta); }
  const std::weak_ptr<Meta>& retained() const { return retained_; }

 private:
  const char* name_;
  Edges inputs_;
  std::uint64_t sequence_;
  Dims sizes_;
  Dtype dtype_;
  StreamId stream_ = 0;
  Device device_;
  Backward backward_;
  SavedChain saved_;
  std::weak_ptr<Meta> retained_;
};

// Where the gradients of these go; empty when none of them needs one, or gradients are off.
Edges edges_of(std::span<const Tensor* const> inputs);
// True when gradients are on and one of these requires one.
bool is_needed(std::span<const Tensor* const> inputs);
// `out` was made by this step.
void attach(const char* name, const Tensor& out, Edges edges, Backward backward, SavedChain saved);

template <class Make>
void record(const char* name, const Tensor& out, std::span<const Tensor* const> inputs, Make&& make) {
  if (!is_floating_point(out.dtype())) return;
  Edges edges = edges_of(inputs);
  if (edges.empty()) return;
  Saver save(name, out, inputs, edges);
  Backward backward = make(save);
  attach(name, out, std::move(edges), std::move(backward), save.chain());
}
template <class Make>
void record(const char* name, const Tensor& out, std::initializer_list<const Tensor*> inputs, Make&& make) {
  record(name, out, std::span<const Tensor* const>(inputs.begin(), inputs.size()), std::forward<Make>(make));
}

// --- in place ------------------------------------------------------------------------------------------------------
// The check comes before the kernel runs (throws `leaf-in-place` and `view-without-grad` with PyTorch's texts), the record
// after it; `other` is the other input whose history `self` gets. What `make` saves of `self` is its new value. Counts
// the change. A change through a view is a change of the tensor that it is a view of, and of all other views of that
// (autograd/in_place.cpp).
void check_in_place(const Tensor& self, const Tensor& other = {});
void changed_in_place(const Tensor& self);
void attach_in_place(const char* name, const Tensor& self, std::span<const Tensor* const> inputs, Edges edges,
                     Backward backward, SavedChain saved);

template <class Make>
void record_in_place(const char* name, const Tensor& self, std::initializer_list<const Tensor*> list, Make&& make) {
  const std::span<const Tensor* const> inputs(list.begin(), list.size());
  Edges edges = edges_of(inputs);  // as they were before the change
  changed_in_place(self);
  if (edges.empty()) return;
  Saver save(name, self, inputs, edges);
  Backward backward = make(save);
  attach_in_place(name, self, inputs, std::move(edges), std::move(backward), save.chain());
}

}  // namespace labrig::graph
