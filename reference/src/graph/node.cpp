// Nodes, what they save, and how they come about.
#include "graph/node.hpp"

#include <atomic>

#include "device/thread_state.hpp"
#include "graph/meta.hpp"
#include "labrig/error.hpp"
#include "tensor/names.hpp"

namespace labrig::graph {

struct SavedTensor::State {
  Tensor tensor;  // the memory without the history
  std::uint32_t version = 0;
  std::string producer;  // "ExpBackward0"; empty for a leaf
};

namespace {

Error modified(const Tensor& tensor, std::uint32_t expected, const std::string& producer) {
  const std::string device = tensor.device().is_cpu() ? "" : std::string(name_of(tensor.device().type())) + ".";
  const std::string output = producer.empty() ? "" : ", which is output 0 of " + producer + ",";
  const std::string called = tensor.name().empty() ? "a tensor" : "'" + tensor.name() + "'";
  return Error("modified-in-place",
               "one of the variables needed for gradient computation has been modified by an inplace operation: "
               "[torch." +
                   device + torch_type_name(tensor.dtype()) + "Tensor " + tensor.sizes().str() + "]" + output +
                   " is at version " + std::to_string(tensor.version()) + "; expected version " +
                   std::to_string(expected) +
                   " instead. Hint: enable anomaly detection to find the operation that failed to compute its "
                   "gradient, with torch.autograd.set_detect_anomaly(True, check_nan=False).",
               called + " was saved for the backward pass and written to after that, so the gradient would be wrong",
               "use the operation that returns a new tensor, or change a clone()");
}

Error freed() {
  return Error("graph-freed",
               "Trying to backward through the graph a second time (or directly access saved tensors after they have "
               "already been freed). Saved intermediate values of the graph are freed when you call .backward() or "
               "autograd.grad(). Specify retain_graph=True if you need to backward through the graph a second time or "
               "if you need to access saved tensors after calling backward.",
               "the first backward pass let go what the forward pass had saved, which is what keeps memory low",
               "do the forward pass again; detach() a value that is carried over from the step before; or pass "
               "retain_graph = true to the first backward()");
}

std::uint64_t next_sequence() {
  static std::atomic<std::uint64_t> next{0};
  return next.fetch_add(1, std::memory_order_relaxed);
}

}  // namespace

Tensor SavedTensor::get() const {
  if (!state_) return {};
  if (state_->tensor.version() != state_->version) throw modified(state_->tensor, state_->version, state_->producer);
  return state_->tensor;
}

SavedTensor Saver::operator()(const Tensor& tensor) const {
  SavedTensor saved;
  if (!tensor.defined()) return saved;
  bool is_input = false;
  for (const Tensor* input : inputs_) is_input |= input->defined() && input->is_same(tensor);
  TensorImpl bare = impl_of(tensor);
  bare.meta = nullptr;
  saved.state_ = std::make_shared<SavedTensor::State>();
  saved.state_->tensor = Tensor(std::make_shared<TensorImpl>(std::move(bare)));
  saved.state_->version = tensor.version();
  saved.state_->producer = is_input ? tensor.grad_fn() : node_;
  return saved;
}

bool Saver::wanted(int i) const {
  const Tensor& input = *inputs_[static_cast<std::size_t>(i)];
  return input.defined() && input.requires_grad();
}

Gradients::Gradients(const Node& node) : node_(node), given_(node.inputs().size()) {}
bool Gradients::wanted(int input) const { return node_.inputs()[static_cast<std::size_t>(input)] != nullptr; }

Node::Node(std::string name, std::vector<std::shared_ptr<Node>> inputs, Backward backward)
    : name_(std::move(name)), inputs_(std::move(inputs)), sequence_(next_sequence()), backward_(std::move(backward)) {}

std::vector<Tensor> Node::run(const Tensor& gradient) const {
  if (!backward_) throw freed();
  Gradients to(*this);
  backward_(gradient, to);
  return std::move(to.all());
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

void attach(const char* name, const Tensor& out, std::span<const Tensor* const> inputs, Backward backward) {
  std::vector<std::shared_ptr<Node>> edges;
  for (const Tensor* input : inputs) edges.push_back(input->defined() ? edge_of(*input) : nullptr);
  meta_of(out).node = std::make_shared<Node>(name, std::move(edges), std::move(backward));
}

void check_in_place(const Tensor& self) {
  if (!thread_state().grad_enabled || !self.requires_grad() || !self.is_leaf()) return;
  throw Error(
      "leaf-in-place", "a leaf Variable that requires grad is being used in an in-place operation.",
      "the gradient belongs to the value that the tensor has now; after the change there would be none to have it",
      "update parameters under a NoGradGuard; elsewhere use the operation that returns a new tensor");
}

void changed_in_place(const Tensor& self) { impl_of(self).storage->bump_version(); }

}  // namespace labrig::graph
