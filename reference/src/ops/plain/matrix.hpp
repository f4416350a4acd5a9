// A matrix of a batch, and a matrix read the other way, as operands of their own: no element moves.
#pragma once

#include "ops/kernel.hpp"

namespace labrig::kernels {

// Number i of a batch [b, m, n].
Operand matrix_of(const Operand& batch, std::int64_t i);
Operand transposed(const Operand& matrix);

}  // namespace labrig::kernels
