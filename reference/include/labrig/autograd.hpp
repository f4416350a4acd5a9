// Gradients. Operators on tensors that require a gradient note how to go back; backward() walks these notes from a
// result to the leaves and adds to their grad(). The graph is made anew in each forward pass and let go in the backward
// pass. Which gradients a tensor has: Tensor::requires_grad, grad, backward (tensor.hpp).
#pragma once

#include <vector>

#include "labrig/export.hpp"
#include "labrig/tensor.hpp"

namespace labrig {

// Whether operators of this thread note how to go back (true at first).
LABRIG_API bool grad_enabled();

// Switches that off, or on, for the calling thread, as long as it lives. Guards are ended in the reverse order.
class LABRIG_API GradModeGuard {
 public:
  explicit GradModeGuard(bool enabled);
  ~GradModeGuard();
  GradModeGuard(const GradModeGuard&) = delete;
  GradModeGuard& operator=(const GradModeGuard&) = delete;

 private:
  bool before_;
};
class NoGradGuard : public GradModeGuard {
 public:
  NoGradGuard() : GradModeGuard(false) {}
};
class EnableGradGuard : public GradModeGuard {
 public:
  EnableGradGuard() : GradModeGuard(true) {}
};

namespace autograd {

// From each output (with its gradient; 1 for a scalar where none is given) to all leaves, whose grad() grows. On the
// calling thread, each step in the stream of its forward. Frees the saved tensors on the way unless `retain_graph`.
// Throws `no-gradient`, `not-a-scalar`, `invalid-gradient`, and for saved tensors `graph-freed`, `modified-in-place`.
LABRIG_API void backward(const std::vector<Tensor>& outputs, const std::vector<Tensor>& gradients = {},
                         bool retain_graph = false);
// The gradients of `outputs` with respect to `inputs`, returned and added nowhere. One that takes no part in the
// outputs is an error (`unused-input`), or with `allow_unused` an undefined tensor.
LABRIG_API std::vector<Tensor> grad(const std::vector<Tensor>& outputs, const std::vector<Tensor>& inputs,
                                    const std::vector<Tensor>& gradients = {}, bool retain_graph = false,
                                    bool allow_unused = false);

}  // namespace autograd
}  // namespace labrig
