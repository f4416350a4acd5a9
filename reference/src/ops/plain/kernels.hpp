// Every kernel as plain loops in a fixed order, so that the bits are the same everywhere: the simulated card runs these
// and nothing else; the host runs the elementwise ones, and the product where it has no OpenBLAS. Products and
// reductions are here, one file a family; elementwise kernels are in ops/elementwise_kernels.hpp.
#pragma once

#include "ops/kernel.hpp"

namespace labrig::kernels {

// Carries out a call that fits its schema and whose operands are addresses in this process. Inputs are read as they
// were before the call, also where they overlap the output.
void run(const KernelCall& call);

void matmul(const KernelCall& call);
void reduction(const KernelCall& call);  // sum, mean, max

}  // namespace labrig::kernels
