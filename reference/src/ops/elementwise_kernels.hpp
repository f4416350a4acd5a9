// The kernels in which each element of the output depends on one element of each input: fill, copy, arithmetic, relu,
// neg, masked_fill, arange. `cpu` and the simulated card run this same code: it has one order of operations, so that
// the bits are the same everywhere. Calls must satisfy the schema (schema.cpp); data pointers are addresses of this
// process. Read next: strided.hpp, for kernels that are not elementwise.
#pragma once

#include "ops/kernel.hpp"

namespace labrig::kernels {

void fill(const KernelCall& call);
void copy(const KernelCall& call);
void binary(const KernelCall& call);       // add, sub, mul, div
void with_scalar(const KernelCall& call);  // add_scalar, sub_scalar, mul_scalar, div_scalar
void relu(const KernelCall& call);         // NaN stays NaN
void neg(const KernelCall& call);
void masked_fill(const KernelCall& call);  // operands: out, x, mask
void arange(const KernelCall& call);

}  // namespace labrig::kernels
