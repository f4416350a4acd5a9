// The calls of a tensor about gradients, and the switch.
#include <utility>

#include "device/thread_state.hpp"
#include "graph/meta.hpp"
#include "labrig/autograd.hpp"
#include "labrig/error.hpp"

namespace labrig {

bool grad_enabled() { return thread_state().grad_enabled; }
GradModeGuard::GradModeGuard(bool enabled) : before_(std::exchange(thread_state().grad_enabled, enabled)) {}
GradModeGuard::~GradModeGuard() { thread_state().grad_enabled = before_; }

bool Tensor::requires_grad() const {
  const auto& meta = impl_of(*this).meta;
  return meta && (meta->requires_grad || graph::node_of(*this));
}

const Tensor& Tensor::requires_grad_(bool on) const {
  if (on && !is_floating_point(dtype())) {
    throw Error("no-gradient", "only Tensors of floating point dtype can require gradients",
                std::string("a number of type ") + name_of(dtype()) + " does not change by small steps",
                "convert the tensor to f32 first");
  }
  if (!is_leaf()) {
    if (on) return *this;
    throw Error(
        "no-gradient",
        "you can only change requires_grad flags of leaf variables. If you want to use a computed variable in a "
        "subgraph that doesn't require differentiation use var_no_grad = var.detach().",
        "the tensor is the result of " + grad_fn() + ", which requires a gradient of it", "use detach()");
  }
  graph::meta_of(*this).requires_grad = on;
  return *this;
}

Tensor Tensor::grad() const { return impl_of(*this).meta ? impl_->meta->grad : Tensor(); }

void Tensor::set_grad(const Tensor& grad) const {
  const auto refuse = [](const std::string& what, const std::string& why) {
    throw Error("invalid-gradient", what, why, "give a gradient of the shape, type and device of its tensor");
  };
  if (grad.defined()) {
    if (grad.dtype() != dtype()) {
      refuse("assigned grad has data of a different type",
             std::string("it is ") + name_of(grad.dtype()) + " and the tensor " + name_of(dtype()));
    }
    if (grad.device() != device()) {
      refuse("assigned grad has data located on a different device",
             "it is on " + grad.device().str() + " and the tensor on " + device().str());
    }
    if (grad.sizes() != sizes()) {
      refuse("attempting to assign a gradient of size '" + grad.sizes().str() + "' to a tensor of size '" +
                 sizes().str() + "'. Please ensure that the gradient and the tensor are the same size",
             "an element of a gradient belongs to one element of its tensor");
    }
    if (grad.is_same(*this)) refuse("can't assign Variable as its own grad", "it would add to itself");
  }
  graph::meta_of(*this).grad = grad;
}

bool Tensor::is_leaf() const { return !graph::node_of(*this); }
std::string Tensor::grad_fn() const { return is_leaf() ? "" : graph::node_of(*this)->name(); }

void Tensor::retain_grad() const {
  if (!requires_grad()) {
    throw Error("no-gradient", "can't retain_grad on Tensor that has requires_grad=False",
                "no gradient of this tensor is ever computed", "requires_grad_() on what it is computed from");
  }
  if (is_leaf()) return;  // keeps its gradient anyway
  graph::Meta& meta = graph::meta_of(*this);
  meta.retains_grad = true;
  graph::node_of(*this)->retain_for(impl_->meta);
}

void Tensor::backward(const Tensor& gradient, bool retain_graph) const {
  autograd::backward({*this}, {gradient}, retain_graph);
}

const Tensor& Tensor::detach_() const {
  if (impl_of(*this).meta && impl_->meta->base.defined()) {
    throw Error("view-detached-in-place", "Can't detach views in-place. Use detach() instead.",
                "what is done to a view is done to the tensor that it is a view of", "use detach()");
  }
  if (!impl_->meta) return *this;
  graph::Meta& meta = *impl_->meta;
  if (meta.node) meta.node->retain_for({});
  meta.node = nullptr;
  meta.requires_grad = meta.retains_grad = false;
  return *this;
}

std::uint32_t Tensor::version() const { return impl_of(*this).storage->version(); }

}  // namespace labrig
