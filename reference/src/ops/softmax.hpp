// log_softmax for the operators that are made of it.
#pragma once

#include "labrig/tensor.hpp"

namespace labrig {

// In the type of x also within an autocast region, where log_softmax itself gives f32.
Tensor log_softmax_in_own_type(const Tensor& x, int dim);

}  // namespace labrig
