// Sums of gradients, with as few copies as PyTorch makes: memory peaks in backward().
#pragma once

#include "graph/node.hpp"
#include "labrig/tensor.hpp"

namespace labrig::autograd {

// True when nobody else holds this handle or its memory, so that it may be changed or kept as it is.
bool is_sole(const Tensor& tensor);
// sum <- sum + gradient; in the memory of `sum` where nobody else sees it.
void add_to(Tensor& sum, const Tensor& gradient);
// As an operator's input needs it: summed down to the shape that was broadcast, in the right type. Throws
// `invalid-gradient` with PyTorch's text when it cannot be. `from` gave it for its input number `index`.
Tensor fitted(Tensor gradient, const graph::Node& to, const char* from, std::size_t index);

}  // namespace labrig::autograd
