// A part of a model: named parameters (learnt), buffers (carried along) and other modules, in the order in which they
// were registered. A Module is a handle, as a Tensor is: a copy shares parameters, buffers, children and mode with the
// original. So a model is a struct of layers, and returning or storing it copies no values:
//
//   struct Net : nn::Module {
//     nn::Linear hidden{784, 128}, out{128, 10};
//     Net() { register_module("hidden", hidden), register_module("out", out); }
//     Tensor forward(const Tensor& x) override { return out(relu(hidden(x))); }
//   };
//
// Read next: nn.hpp (the layers), optim.hpp (what changes parameters), io.hpp (files).
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "labrig/export.hpp"
#include "labrig/state_dict.hpp"
#include "labrig/tensor.hpp"

namespace labrig::nn {

// What load_state_dict found amiss where it does not throw.
struct IncompatibleKeys {
  std::vector<std::string> missing;     // in the model, not in the state
  std::vector<std::string> unexpected;  // in the state, not in the model
};

class LABRIG_API Module {
 public:
  Module();
  virtual ~Module();
  Module(const Module&) = default;
  Module& operator=(const Module&) = default;

  // What the module computes. A module with another signature leaves this out; then it throws `no-forward`.
  virtual Tensor forward(const Tensor& x);
  Tensor operator()(const Tensor& x) { return forward(x); }

  // --- what it is made of: its own first, then that of its children, as "child.name" --------------------------------
  // Each tensor once, under its first name.
  NamedTensors named_parameters() const;
  std::vector<Tensor> parameters() const;
  NamedTensors named_buffers() const;
  // The direct children; as plain Modules, which know everything but forward().
  std::vector<std::pair<std::string, Module>> named_children() const;

  // --- mode ---------------------------------------------------------------------------------------------------------
  // For this module and all below it. Dropout and BatchNorm behave differently in training, which is where a module
  // starts. Returns *this.
  Module& train(bool on = true);
  Module& eval() { return train(false); }
  bool is_training() const;
  // Of every parameter: with `on` false the model is frozen.
  Module& requires_grad_(bool on = true);
  // Lets the gradients go (their memory with them), or sets them to 0.
  void zero_grad(bool set_to_none = true);

  // --- where it lives ----------------------------------------------------------------------------------------------
  // Moves parameters, buffers and existing gradients, in place: every handle on a parameter sees it in its new place,
  // so that an optimizer made before still holds the model's parameters (its own state moves not: a step then throws
  // `device-mismatch`, as in PyTorch). An element type must be a floating point one and applies to the floating point
  // tensors alone. A graph made before the move is good for nothing. Returns *this.
  Module& to(Device device);
  Module& to(Dtype dtype);
  Module& to(Device device, Dtype dtype);
  Module& half() { return to(kF16); }

  // --- state -------------------------------------------------------------------------------------------------------
  // Parameters and persistent buffers, each module's own before its children's. The tensors share the model's memory
  // and have no history: clone() what must not change with the next step.
  NamedTensors state_dict() const;
  // Copies the values in, from any device and element type. Throws `state-dict` with PyTorch's text, which lists every
  // problem: missing and unexpected names (unless `strict` is false) and sizes that differ. As in PyTorch, whatever
  // fits has been copied by then.
  IncompatibleKeys load_state_dict(const NamedTensors& state, bool strict = true);

  // --- registering: in the constructor of a module -----------------------------------------------------------------
  // The tensor becomes a leaf that requires a gradient, named "name" here and "child.name" once this module is a child.
  // Returns it. An undefined tensor is a parameter that this module does without (a bias). Throws `bad-name` for a name
  // that is empty, holds a '.', or is taken.
  Tensor register_parameter(const std::string& name, const Tensor& tensor);
  // A tensor that belongs to the model but is not learnt: it moves with the model, and is part of the state if
  // `persistent`.
  Tensor register_buffer(const std::string& name, const Tensor& tensor, bool persistent = true);
  void register_module(const std::string& name, const Module& child);

 private:
  struct State;
  explicit Module(std::shared_ptr<State> state);
  // The name of the class, as "Linear".
  std::string type_name() const;

  std::shared_ptr<State> state_;  // shared by copies of the handle and by the parent
};

namespace utils {
// Scales all gradients so that their common Euclidean norm is at most max_norm, and returns the norm before (0-dim; on
// the device of the first gradient). Nothing waits for a card unless `error_if_nonfinite`, which throws `not-finite`.
LABRIG_API Tensor clip_grad_norm_(const std::vector<Tensor>& parameters, double max_norm,
                                  bool error_if_nonfinite = false);
// Limits every element of every gradient to -limit … limit.
LABRIG_API void clip_grad_value_(const std::vector<Tensor>& parameters, double limit);
}  // namespace utils

}  // namespace labrig::nn
