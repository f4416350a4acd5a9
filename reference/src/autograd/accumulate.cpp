// Where gradients meet: within the graph, and at the leaves. A leaf takes the first gradient itself when nobody else
// holds it and it lies in memory as the leaf does; later ones are added in place.
#include "autograd/accumulate.hpp"

#include <string>

#include "graph/meta.hpp"
#include "labrig/error.hpp"
#include "labrig/ops.hpp"
#include "tensor/impl.hpp"

namespace labrig {
namespace autograd {
namespace {

// Every element at a place of its own, and no place between them.
bool is_dense(const Layout& layout) {
  if (layout.span_elements() != layout.numel()) return false;
  for (int d = 0; d < layout.dim(); ++d) {
    if (layout.strides[d] == 0 && layout.sizes[d] > 1) return false;
  }
  return true;
}

bool same_places(const Layout& a, const Layout& b) {
  for (int d = 0; d < a.dim(); ++d) {
    if (a.sizes[d] > 1 && a.strides[d] != b.strides[d]) return false;
  }
  return true;
}

// PyTorch's layout contract: a gradient lies in memory as its leaf does where that has no gaps, else row-major.
bool lies_as(const Tensor& gradient, const Tensor& leaf) {
  return is_dense(leaf.layout()) ? same_places(gradient.layout(), leaf.layout()) : gradient.is_contiguous();
}

Tensor cloned_as(const Tensor& gradient, const Tensor& leaf) {
  if (!is_dense(leaf.layout()) || leaf.is_contiguous()) return gradient.clone();
  const Tensor copy = make_strided(leaf.layout(), {gradient.dtype(), gradient.device()}, gradient.name());
  copy_values(copy, gradient, true, trace::Cause::asked);
  return copy;
}

void add_to_leaf(const Tensor& leaf, const Tensor& gradient) {
  Tensor& sum = graph::meta_of(leaf).grad;
  if (sum.defined()) {
    add_(sum, gradient);
  } else if (is_sole(gradient) && lies_as(gradient, leaf)) {
    sum = gradient.detach();
  } else {
    sum = cloned_as(gradient, leaf);
  }
}

bool broadcasts_to(const Dims& small, const Dims& large) {
  const int added = large.count() - small.count();
  if (added < 0) return false;
  for (int d = 0; d < small.count(); ++d) {
    if (small[d] != large[d + added] && small[d] != 1) return false;
  }
  return true;
}

Error invalid(const char* from, std::size_t index, const std::string& what) {
  return Error("invalid-gradient",
               std::string("Function ") + from + " returned an invalid gradient at index " + std::to_string(index) +
                   " - " + what,
               "a gradient has the shape of its tensor and lives where that does",
               "pass backward() a gradient that fits its output; from an operator of labrig this is a mistake of ours");
}

}  // namespace

bool is_sole(const Tensor& tensor) { return tensor.impl().use_count() == 1 && tensor.impl()->storage.use_count() == 1; }

void add_to(Tensor& sum, const Tensor& gradient) {
  if (!sum.defined()) {
    sum = gradient;
  } else if (is_sole(sum) && is_dense(sum.layout())) {
    add_(sum, gradient);
  } else {
    sum = add(sum, gradient);
  }
}

Tensor fitted(Tensor gradient, const graph::Node& to, const char* from, std::size_t index) {
  if (gradient.sizes() != to.sizes()) {
    if (!broadcasts_to(to.sizes(), gradient.sizes())) {
      throw invalid(from, index,
                    "got " + gradient.sizes().str() + " but expected shape compatible with " + to.sizes().str());
    }
    gradient = sum_to_size(gradient, to.sizes());
  }
  if (gradient.dtype() != to.dtype()) gradient = gradient.to(to.dtype());
  if (gradient.device() != to.device()) {
    if (gradient.dim() > 0) {
      throw invalid(from, index, "expected device " + to.device().str() + " but got " + gradient.device().str());
    }
    gradient = gradient.to(to.device());
  }
  return gradient;
}

}  // namespace autograd

namespace graph {

std::shared_ptr<Node> edge_of(const Tensor& tensor) {
  if (!impl_of(tensor).meta) return nullptr;
  if (const auto& node = node_of(tensor)) return node;
  Meta& meta = meta_of(tensor);
  if (!meta.requires_grad) return nullptr;
  if (auto known = meta.accumulator.lock()) return known;
  auto node = std::make_shared<Node>(
      "AccumulateGrad", tensor, Edges{},
      [leaf = tensor](const Tensor& gradient, Gradients&) { autograd::add_to_leaf(leaf, gradient); });
  meta.accumulator = node;
  return node;
}

}  // namespace graph
}  // namespace labrig
