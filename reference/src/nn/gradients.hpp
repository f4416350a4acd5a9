// What modules and optimizers both do with the gradients of their parameters.
#pragma once

#include <vector>

#include "labrig/tensor.hpp"

namespace labrig::nn {

void zero_gradients(const std::vector<Tensor>& parameters, bool set_to_none);

}  // namespace labrig::nn
