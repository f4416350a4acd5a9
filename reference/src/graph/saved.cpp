// Saved tensors: keeping them, looking whether they are still what they were, letting them go.
#include "graph/saved.hpp"

#include <string>

#include "graph/node.hpp"
#include "labrig/error.hpp"
#include "tensor/impl.hpp"
#include "tensor/names.hpp"

namespace labrig::graph {

struct SavedTensor::State {
  Tensor tensor;  // undefined once it was let go
  std::uint32_t version = 0;
  const char* producer = nullptr;  // "ExpBackward0"; null for a leaf
  std::shared_ptr<State> next;     // of the same node
};

namespace {

Error modified(const Tensor& tensor, std::uint32_t expected, const char* producer) {
  const std::string device = tensor.device().is_cpu() ? "" : std::string(name_of(tensor.device().type())) + ".";
  const std::string output = producer ? std::string(", which is output 0 of ") + producer + "," : "";
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

}  // namespace

Tensor SavedTensor::get() const {
  if (!state_) return {};
  if (!state_->tensor.defined()) throw freed();
  if (state_->tensor.version() != state_->version) throw modified(state_->tensor, state_->version, state_->producer);
  return state_->tensor;
}

void SavedChain::release() const {
  for (auto* state = first_.get(); state; state = state->next.get()) state->tensor = {};
}

std::vector<const TensorImpl*> SavedChain::tensors() const {
  std::vector<const TensorImpl*> result;
  for (auto* state = first_.get(); state; state = state->next.get()) {
    if (state->tensor.defined()) result.push_back(state->tensor.impl().get());
  }
  return result;
}

// The step that made it; null for a leaf and for what has no history.
const char* Saver::producer_of(const Tensor& tensor) const {
  if (out_.is_same(tensor)) return node_;
  for (std::size_t i = 0; i < inputs_.size(); ++i) {
    if (!inputs_[i]->defined() || !inputs_[i]->is_same(tensor)) continue;
    return edges_[i] && !edges_[i]->is_accumulator() ? edges_[i]->name() : nullptr;
  }
  return nullptr;
}

SavedTensor Saver::operator()(const Tensor& tensor) const {
  if (!tensor.defined()) return {};
  auto state = std::make_shared<SavedTensor::State>();
  state->tensor = alias(tensor, tensor.layout());
  state->tensor.impl()->saved_by = node_;
  state->version = tensor.version();
  state->producer = producer_of(tensor);
  state->next = std::move(chain_.first_);
  chain_.first_ = state;
  return SavedTensor(std::move(state));
}

}  // namespace labrig::graph
