// The backward pass: from the outputs to the leaves, each node once, after all that lead to it. Nodes are numbered in
// the order of the forward pass; taking the highest number first visits every node after its successors.
#include <map>
#include <unordered_map>

#include "device/thread_state.hpp"
#include "graph/meta.hpp"
#include "graph/node.hpp"
#include "labrig/autograd.hpp"
#include "labrig/error.hpp"
#include "labrig/ops.hpp"

namespace labrig {

bool grad_enabled() { return thread_state().grad_enabled; }
GradModeGuard::GradModeGuard(bool enabled) : before_(std::exchange(thread_state().grad_enabled, enabled)) {}
GradModeGuard::~GradModeGuard() { thread_state().grad_enabled = before_; }

namespace graph {

std::shared_ptr<Node> edge_of(const Tensor& tensor) {
  if (!tensor.requires_grad()) return nullptr;
  Meta& meta = meta_of(tensor);
  if (meta.node) return meta.node;
  if (auto known = meta.accumulator.lock()) return known;
  auto node = std::make_shared<Node>("AccumulateGrad", std::vector<std::shared_ptr<Node>>{},
                                     [leaf = tensor](const Tensor& gradient, Gradients&) {
                                       Tensor& sum = meta_of(leaf).grad;
                                       sum = sum.defined() ? add(sum, gradient) : gradient;
                                     });
  meta.accumulator = node;
  return node;
}

}  // namespace graph

namespace autograd {

using graph::Node;

void backward(const std::vector<Tensor>& outputs, const std::vector<Tensor>& gradients, bool retain_graph) {
  const NoGradGuard guard;
  std::map<std::uint64_t, std::pair<std::shared_ptr<Node>, Tensor>> ready;  // by sequence
  const auto arrive = [&](const std::shared_ptr<Node>& node, const Tensor& gradient) {
    auto& [at, sum] = ready[node->sequence()];
    at = node;
    sum = sum.defined() ? add(sum, gradient) : gradient;
  };
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const bool given = i < gradients.size() && gradients[i].defined();
    const auto node = graph::edge_of(outputs[i]);
    if (!node) {
      throw Error("no-gradient",
                  "element " + std::to_string(i) + " of tensors does not require grad and does not have a grad_fn",
                  "nothing that it was computed from requires a gradient", "requires_grad_() on what is to be learnt");
    }
    if (!given && outputs[i].numel() != 1) {
      throw Error("not-a-scalar", "grad can be implicitly created only for scalar outputs",
                  "backward() starts from one number; this tensor has shape " + outputs[i].sizes().str(),
                  "reduce it first, as sum(x).backward(), or pass a gradient of its shape");
    }
    arrive(node, given ? gradients[i] : ones(outputs[i].sizes(), {outputs[i].dtype(), outputs[i].device()}));
  }
  while (!ready.empty()) {
    auto last = std::prev(ready.end());
    const auto [node, gradient] = std::move(last->second);
    ready.erase(last);
    const std::vector<Tensor> given = node->run(gradient);
    if (!retain_graph && !node->inputs().empty()) node->release();
    for (std::size_t i = 0; i < given.size(); ++i) {
      if (node->inputs()[i] && given[i].defined()) arrive(node->inputs()[i], given[i]);
    }
  }
}

}  // namespace autograd

// --- the calls of a tensor -----------------------------------------------------------------------------------------

bool Tensor::requires_grad() const {
  const auto& meta = impl_of(*this).meta;
  return meta && (meta->requires_grad || meta->node);
}

const Tensor& Tensor::requires_grad_(bool on) const {
  if (on && !is_floating_point(dtype())) {
    throw Error("no-gradient", "only Tensors of floating point dtype can require gradients",
                "a whole number does not change by small steps", "convert the tensor to f32 first");
  }
  graph::meta_of(*this).requires_grad = on;
  return *this;
}

Tensor Tensor::grad() const { return impl_of(*this).meta ? impl_->meta->grad : Tensor(); }
void Tensor::set_grad(const Tensor& grad) const { graph::meta_of(*this).grad = grad; }
bool Tensor::is_leaf() const { return !impl_of(*this).meta || !impl_->meta->node; }
std::string Tensor::grad_fn() const { return is_leaf() ? "" : impl_->meta->node->name(); }
void Tensor::backward(const Tensor& gradient, bool retain_graph) const {
  autograd::backward({*this}, {gradient}, retain_graph);
}
std::uint32_t Tensor::version() const { return impl_of(*this).storage->version(); }

}  // namespace labrig
