// The inputs of an operator as the surrounding autocast region wants them: cast, or as they are. The rules and the
// weight cache belong to labrig::amp, a library of its own that hangs itself in here (ThreadState::autocast) while a
// region is open; without one nothing happens. An operator that takes part begins with it:
//
//   const auto [x, weight, bias] = autocast("linear", x_in, weight_in, bias_in);
#pragma once

#include <array>
#include <span>
#include <vector>

#include "device/thread_state.hpp"
#include "labrig/tensor.hpp"

namespace labrig {

template <class... Inputs>
std::array<Tensor, sizeof...(Inputs)> autocast(const char* op, const Inputs&... inputs) {
  std::array<Tensor, sizeof...(Inputs)> cast{inputs...};
  if (AutocastRules* const region = thread_state().autocast) region->cast(op, cast);
  return cast;
}

// Of an operator that takes a list.
inline std::vector<Tensor> autocast(const char* op, std::vector<Tensor> inputs) {
  if (AutocastRules* const region = thread_state().autocast) region->cast(op, inputs);
  return inputs;
}

}  // namespace labrig
