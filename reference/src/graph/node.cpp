// Nodes, and how they come about.
#include "graph/node.hpp"

#include <atomic>

#include "device/thread_state.hpp"
#include "graph/meta.hpp"
#include "labrig/error.hpp"

namespace labrig::graph {
namespace {

std::uint64_t next_sequence() {
  static std::atomic<std::uint64_t> next{0};
  return next.fetch_add(1, std::memory_order_relaxed);
}

}  // namespace

Node::Node(const char* name, const Tensor& out, Edges inputs, Backward backward, SavedChain saved)
    : name_(name),
      inputs_(std::move(inputs)),
      sequence_(next_sequence()),
      sizes_(out.sizes()),
      dtype_(out.dtype()),
      device_(out.device()),
      backward_(std::move(backward)),
      saved_(std::move(saved)) {
  if (!device_.is_cpu()) stream_ = current_stream_id(device_);
}

// A node that dies with this one hands its inputs over first, so that its own end finds nothing to go down to.
Node::~Node() {
  Edges dying = std::move(inputs_);
  while (!dying.empty()) {
    const std::shared_ptr<Node> node = std::move(dying.back());
    dying.pop_back();
    if (!node || node.use_count() > 1) continue;
    for (auto& input : node->inputs_) dying.push_back(std::move(input));
    node->inputs_.clear();
  }
}

Meta& meta_of(const Tensor& tensor) {
  impl_of(tensor);
  auto& meta = tensor.impl()->meta;
  if (!meta) meta = std::make_shared<Meta>();
  return *meta;
}

bool is_needed(std::span<const Tensor* const> inputs) {
  if (!thread_state().grad_enabled) return false;
  for (const Tensor* input : inputs) {
    if (input->defined() && input->requires_grad()) return true;
  }
  return false;
}

Edges edges_of(std::span<const Tensor* const> inputs) {
  Edges edges;
  if (!is_needed(inputs)) return edges;
  edges.reserve(inputs.size());
  for (const Tensor* input : inputs) edges.push_back(input->defined() ? edge_of(*input) : nullptr);
  return edges;
}

void set_node(const Tensor& tensor, std::shared_ptr<Node> node) {
  Meta& meta = meta_of(tensor);
  if (meta.node) meta.node->retain_for({});
  if (meta.retains_grad) node->retain_for(tensor.impl()->meta);
  meta.node = std::move(node);
  tensor.impl()->note_graph();
}

void attach(const char* name, const Tensor& out, Edges edges, Backward backward, SavedChain saved) {
  set_node(out, std::make_shared<Node>(name, out, std::move(edges), std::move(backward), std::move(saved)));
}

void note_view(const Tensor& view, const Tensor& of) {
  if (!is_floating_point(view.dtype())) return;
  if (!thread_state().grad_enabled) {
    view.impl()->made_without_grad = true;
    return;
  }
  const auto& meta = impl_of(of).meta;
  Meta& own = meta_of(view);
  own.base = meta && meta->base.defined() ? meta->base : of;
  own.version = view.version();
}

namespace {

Error untracked_view() {
  return Error("view-without-grad",
               "A view was created in no_grad mode and is being modified inplace with grad mode enabled. Given that "
               "this use case is ambiguous and error-prone, it is forbidden. You can clarify your code by moving both "
               "the view and the inplace either both inside the no_grad block (if you don't want the inplace to be "
               "tracked) or both outside (if you want the inplace to be tracked).",
               "the tensor that it is a view of would change and have no way back",
               "make the view outside of the NoGradGuard, or change it inside");
}

}  // namespace

void check_in_place(const Tensor& self, const Tensor& other) {
  if (!thread_state().grad_enabled) return;
  const bool gets_history = self.requires_grad() || (other.defined() && other.requires_grad());
  if (gets_history && is_floating_point(self.dtype()) && self.impl()->made_without_grad) throw untracked_view();
  if (!self.requires_grad()) return;
  const Tensor& base = meta_of(self).base;
  const bool view_of_leaf = base.defined() && base.is_leaf() && base.requires_grad();
  if (!self.is_leaf() && !view_of_leaf) return;
  throw Error(
      "leaf-in-place",
      std::string(view_of_leaf ? "a view of " : "") +
          "a leaf Variable that requires grad is being used in an in-place operation.",
      "the gradient belongs to the value that the tensor has now; after the change there would be none to have it",
      "update parameters under a NoGradGuard; elsewhere use the operation that returns a new tensor");
}

void changed_in_place(const Tensor& self) { impl_of(self).storage->bump_version(); }

}  // namespace labrig::graph
