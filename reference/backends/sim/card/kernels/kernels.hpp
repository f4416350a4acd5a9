// The kernels of the simulated card: plain loops in a fixed order, so that the bits are the same everywhere.
// Elementwise kernels are those of the host (ops/elementwise_kernels.hpp); products and reductions are here, one file a
// family.
#pragma once

#include "ops/kernel.hpp"

namespace labrig::sim {

// Carries out a call that fits its schema and whose operands are addresses in this process. Inputs are read as they
// were before the call, also where they overlap the output.
void run_kernel(const KernelCall& call);

void run_matmul(const KernelCall& call);
void run_reduction(const KernelCall& call);  // sum, mean, max

}  // namespace labrig::sim
