// Every kernel as plain loops in a fixed order, so that the bits are the same everywhere: the simulated card runs these
// and nothing else; the host runs them too, but for products (OpenBLAS) and large reductions. One file a family, with
// the names of the other backends; elementwise kernels are in ops/elementwise_kernels.hpp. Arithmetic: 16-bit floats in
// float, sums in double, one rounding at the end.
#pragma once

#include "ops/kernel.hpp"

namespace labrig::kernels {

// Carries out a call that fits its schema and whose operands are addresses in this process. Inputs are read as they
// were before the call, also where they overlap the output.
void run(const KernelCall& call);

// What run() throws when an index lies outside its dimension: of tensor 'operand', index number `position` (row-major)
// has this value, and the dimension this size. Nothing has been written then.
struct BadIndex {
  int operand = 0;
  std::int64_t position = 0, value = 0, size = 0;
  bool negative_allowed = false;  // from -size on
};

void matmul(const KernelCall& call);
void bmm(const KernelCall& call);
void linear(const KernelCall& call);
void conv2d(const KernelCall& call);      // and its two gradients
void reduction(const KernelCall& call);   // sum, mean, max, norm, argmax
void softmax(const KernelCall& call);     // log_softmax and both gradients
void layer_norm(const KernelCall& call);  // and its two gradients
void batch_norm(const KernelCall& call);  // in its three forms
void nll_loss(const KernelCall& call);    // and its gradient
void index(const KernelCall& call);       // index, index_add
void random(const KernelCall& call);      // uniform, normal, random_integers
void step(const KernelCall& call);        // sgd_step, adam_step, amp_unscale, amp_update_scale

}  // namespace labrig::kernels
