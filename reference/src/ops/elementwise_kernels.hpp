// The kernels in which each element of the output depends on one element of each input. `cpu` and the simulated card
// run this same code: it has one order of operations, so that the bits are the same everywhere. Calls must satisfy the
// schema (schema/elementwise.cpp); data pointers are addresses of this process. Read next: map.hpp (the loop around
// them), formulas.hpp (what they compute).
#pragma once

#include "ops/kernel.hpp"

namespace labrig::kernels {

// elementwise_kernels.cpp
void fill(const KernelCall& call);
void copy(const KernelCall& call);
void arange(const KernelCall& call);
void binary(const KernelCall& call);       // add, sub, mul, div
void with_scalar(const KernelCall& call);  // add_scalar, sub_scalar, mul_scalar, div_scalar
void masked_fill(const KernelCall& call);
void where(const KernelCall& call);
// plain/compare.cpp
void compare(const KernelCall& call);  // eq, ne, lt, le, gt, ge
// plain/unary.cpp
void unary(const KernelCall& call);           // relu … clamp
void unary_backward(const KernelCall& call);  // relu_backward … clamp_backward
// plain/loss.cpp
void loss(const KernelCall& call);  // mse_loss, bce_with_logits, and their gradients
// plain/random.cpp
void dropout(const KernelCall& call);

}  // namespace labrig::kernels
