// The kernels that the host has of its own. Elementwise ones are shared with the simulated card
// (src/ops/elementwise_kernels.hpp).
#pragma once

#include "ops/kernel.hpp"

namespace labrig::cpu {

void matmul(const KernelCall& call);     // also bmm and linear: OpenBLAS where it is there
void conv2d(const KernelCall& call);     // and its two gradients: as matrix products
void reduction(const KernelCall& call);  // sum, mean, max, norm

}  // namespace labrig::cpu
