// One kernel call on the card: which function carries it out, and what that function is given. Every launch function
// trusts what the schema (src/ops/schema/) has checked, takes no memory, and returns before the card is done.
#pragma once

#include <cuda_runtime_api.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "fault.hpp"
#include "ops/kernel.hpp"

struct cublasContext;

namespace labrig::cuda {

class LinearPlans;

struct LaunchContext {
  cudaStream_t stream = nullptr;
  int multiprocessors = 1;
  // Memory of this stream alone: work of one stream follows one another, so a kernel may use all of it.
  void* scratch = nullptr;
  std::size_t scratch_bytes = 0;
  // For a matrix product only: nobody else's until the call returns; its stream and workspace are set.
  cublasContext* blas = nullptr;
  LinearPlans* linear_plans = nullptr;  // for a product too
  FaultSite fault;                      // for kernels that check indices
};

inline constexpr int kThreads = 256;  // of a block

// Blocks for a grid-stride loop over `count` items: enough to fill the card, no more.
inline unsigned blocks_for(std::int64_t count, const LaunchContext& context) {
  const std::int64_t needed = (count + kThreads - 1) / kThreads;
  return static_cast<unsigned>(std::clamp<std::int64_t>(needed, 1, std::int64_t{context.multiprocessors} * 16));
}

void launch(const KernelCall& call, const LaunchContext& context);  // launch.cpp

// One function a family.
void launch_fill(const KernelCall& call, const LaunchContext& context);         // fill.cu
void launch_arange(const KernelCall& call, const LaunchContext& context);       // arange.cu
void launch_random(const KernelCall& call, const LaunchContext& context);       // random.cu
void launch_copy(const KernelCall& call, const LaunchContext& context);         // copy.cu
void launch_binary(const KernelCall& call, const LaunchContext& context);       // elementwise.cu
void launch_with_scalar(const KernelCall& call, const LaunchContext& context);  // elementwise.cu: relu, neg, clamp too
void launch_choose(const KernelCall& call, const LaunchContext& context);       // elementwise.cu: masked_fill, where
void launch_compare(const KernelCall& call, const LaunchContext& context);      // compare.cu
void launch_unary(const KernelCall& call, const LaunchContext& context);        // unary.cu
void launch_unary_backward(const KernelCall& call, const LaunchContext& context);    // unary.cu
void launch_dropout(const KernelCall& call, const LaunchContext& context);           // random.cu
void launch_loss(const KernelCall& call, const LaunchContext& context);              // loss.cu
void launch_loss_backward(const KernelCall& call, const LaunchContext& context);     // loss.cu
void launch_matmul(const KernelCall& call, const LaunchContext& context);            // matmul.cpp: bmm, linear too
void launch_conv2d(const KernelCall& call, const LaunchContext& context);            // conv2d.cu: its gradients too
void launch_reduce(const KernelCall& call, const LaunchContext& context);            // reduce.cu
void launch_softmax(const KernelCall& call, const LaunchContext& context);           // softmax.cu
void launch_layer_norm(const KernelCall& call, const LaunchContext& context);        // layer_norm.cu
void launch_batch_norm(const KernelCall& call, const LaunchContext& context);        // batch_norm.cu
void launch_nll_loss(const KernelCall& call, const LaunchContext& context);          // nll_loss.cu
void launch_index(const KernelCall& call, const LaunchContext& context);             // index.cu
void launch_index_add(const KernelCall& call, const LaunchContext& context);         // index.cu
void launch_sgd_step(const KernelCall& call, const LaunchContext& context);          // step.cu
void launch_adam_step(const KernelCall& call, const LaunchContext& context);         // step.cu
void launch_amp_unscale(const KernelCall& call, const LaunchContext& context);       // step.cu
void launch_amp_update_scale(const KernelCall& call, const LaunchContext& context);  // step.cu

// Throws when this library holds no code for the current card.
void require_code_for_current_device();  // fill.cu

}  // namespace labrig::cuda
