// Picking by indices, and the way back: what index, index_select and embedding share (index_select.cpp).
#pragma once

#include <span>

#include "labrig/tensor.hpp"

namespace labrig {

// Whether negative indices count from the end of their dimension, or are out of range.
enum class Negative : std::uint8_t { from_end, refused };

// out <- the elements of x at the indices (i64, one shape, on the device of x), which stand for its dimension `dim` and
// those after it. Throws kernels::BadIndex on the host; on a card the kernel stops the card.
void pick(const Tensor& out, const Tensor& x, std::span<const Tensor> indices, Negative negative, int dim = 0);
// The gradient of a tensor of `sizes` from which the elements of `gradient` were picked: what was picked twice counts
// twice.
Tensor put_back(const Dims& sizes, const Tensor& gradient, std::span<const Tensor> indices, Negative negative,
                int dim = 0);

}  // namespace labrig
