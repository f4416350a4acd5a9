// Tensors and their graph on paper: as in the core, but a tensor is only its size, its type and its block, and a node
// of the graph is only what it keeps and what its way back will make. What an operator makes, keeps and lets go, and in
// which order, decides the peak; that is all that is here. Read next: paper_ops.cpp (the operators, one by one).
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <vector>

#include "plan/paper_card.hpp"

namespace labrig::plan {

struct PaperNode;

struct PaperTensor {
  Dims sizes;
  Dtype dtype = kF32;
  std::shared_ptr<PaperBlock> block;  // null: undefined
  std::shared_ptr<PaperNode> node;    // null: no gradient is wanted
  bool dense = true;                  // false: a repeated row, which must be copied before it can be seen as a matrix

  bool defined() const { return block != nullptr; }
  PaperTensor seen_as(const Dims& other) const;  // another view of it, without a node
  PaperTensor detached() const { return seen_as(sizes); }
};

struct PaperParameter {
  PaperTensor value, gradient;
  std::vector<PaperTensor> state;  // of the optimizer
};

// The gradients of a node's inputs, in their order; undefined where none is wanted.
using PaperGradients = std::vector<PaperTensor>;
using PaperBackward = std::function<PaperGradients(const PaperTensor& gradient)>;

struct PaperNode {
  std::vector<std::shared_ptr<PaperNode>> inputs;
  std::uint64_t sequence = 0;  // later nodes have higher numbers
  Dtype dtype = kF32;          // of the output
  std::size_t row = 0;
  PaperBackward backward;          // holds what the node keeps
  PaperParameter* leaf = nullptr;  // where gradients are added up
};

class Paper {
 public:
  Paper(PaperCard& card, Dtype low, bool autocast) : card_(card), low_(low), autocast_(autocast) {}
  PaperCard& card() { return card_; }

  // --- a region as of AutocastGuard; f32 throughout where the training has none ------------------------------
  void enter_autocast() { inside_ = autocast_; }
  void leave_autocast();
  // The type in which products are computed, and that of functions which autocast keeps in f32.
  Dtype product_type(Dtype own) const { return inside_ ? low_ : own; }
  Dtype wide_type(Dtype own) const { return inside_ ? kF32 : own; }

  // --- tensors -----------------------------------------------------------------------------------------------
  PaperTensor make(const Dims& sizes, Dtype dtype, const char* what);
  PaperTensor make(const Dims& sizes, Dtype dtype, const char* what, Part part);
  // x itself where it has the type already.
  PaperTensor cast(const PaperTensor& x, Dtype dtype, const char* what);
  // A parameter as an operator sees it; its 16-bit copy is made once a region.
  PaperTensor weight(PaperParameter& parameter, Dtype dtype);
  // x without repetition.
  PaperTensor dense(const PaperTensor& x);

  // --- the graph ---------------------------------------------------------------------------------------------

  // x for the closure of a node: kept until the node has run.
  static PaperTensor keep(const PaperTensor& x);
  // `out` was made of these by a step that needs a gradient if one of them does.
  void record(PaperTensor& out, const std::vector<const PaperTensor*>& inputs, PaperBackward backward);
  // From a loss to all parameters, in the order of labrig::autograd.
  void backward(const PaperTensor& loss);

 private:
  struct Task {
    int awaited = 0;
    PaperTensor gradient;
  };
  using Tasks = std::map<PaperNode*, Task>;  // only looked up

  std::shared_ptr<PaperNode> leaf_of(PaperParameter& parameter);
  static void add_up(PaperParameter& leaf, const PaperTensor& gradient);
  void add_to(PaperTensor& sum, PaperTensor gradient);

  PaperCard& card_;
  Dtype low_;
  bool autocast_, inside_ = false;
  bool going_back_ = false;
  std::uint64_t next_sequence_ = 0;
  std::map<PaperParameter*, PaperTensor> copies_;  // only looked up
};

}  // namespace labrig::plan
