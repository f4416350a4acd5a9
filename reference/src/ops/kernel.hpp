// A kernel call: the one form in which operators reach every backend. The operator (reference/src/ops/<op>.cpp) checks
// shapes and types and allocates the result; the backend carries the call out (a table of functions on `cpu` and
// `cuda`, a launch command on `sim`). Operands are strided; outputs come first (Access::write, or read_write for those
// that are changed in place), then what is read. An operand that may be absent is then one of sizes [0].
//
// The schema of a kernel (operands, allowed types and shapes, cost) stands in one place, schema/, and is used three
// times: by the operators, by the simulated card to validate and price a command of an untrusted client, by reports.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "labrig/dtype.hpp"
#include "labrig/export.hpp"
#include "labrig/layout.hpp"

namespace labrig {

// clang-format off
enum class Kernel : std::uint16_t {
  // --- elementwise: each element of the output depends on one element of each input, all broadcast to the output -------
  fill,                            // out <- scalar
  arange,                          // out <- 0, 1, …
  uniform, normal, random_integers,  // out <- Philox; scalars: low, high | mean, deviation | low, high (integers); then
                                   // seed, offset (integers)
  copy,                            // out <- a: strided, converted; scalar[0] != 0: a hidden copy (Cause::hidden)
  add, sub, mul, div,              // out <- a op b; operand types may differ, the output's is the promoted one
  add_scalar, sub_scalar, mul_scalar, div_scalar,  // out <- a op scalar
  eq, ne, lt, le, gt, ge,          // out (bool) <- a op b, compared in their promoted type
  relu, neg, exp, log, sqrt, tanh, sigmoid,
  gelu,                            // scalar[0] != 0: the tanh form
  clamp,                           // scalars: low, high (infinite where there is none)
  relu_backward, sqrt_backward, tanh_backward, sigmoid_backward,  // out <- gradient of the input; operands: out, dy, y
  gelu_backward, clamp_backward,   // operands: out, dy, x; scalars as in the forward
  masked_fill,                     // out <- mask ? scalar : a; operands: out, a, mask
  where,                           // out <- condition ? a : b
  dropout,                         // out <- a * kept / (1 - p), also its own gradient; scalars: p; seed, offset (integers)
  mse_loss, bce_with_logits,       // out <- loss of each element; operands: out, input, target
  mse_loss_backward, bce_with_logits_backward,  // operands: out, dy, input, target; scalar: factor
                                   // of the loss: 1, or 1 / elements under a mean (mse_loss doubles it by itself)

  // --- products ---------------------------------------------------------------------------------------------------------
  matmul,                          // out [m,n] <- a [m,k] b [k,n]; any strides
  bmm,                             // out [b,m,n] <- a [b,m,k] b [b,k,n]
  linear,                          // out [n,o] <- x [n,i] w^T, w [o,i], plus bias [o] (may be absent)
  conv2d,                          // out [n,o,h',w'] <- x [n,c,h,w], w [o,c,kh,kw], bias [o] (may be absent);
                                   // scalars of all three: stride h, stride w, padding h, padding w (integers)
  conv2d_input_backward,           // dx <- dy, w
  conv2d_weight_backward,          // dw <- dy, x

  // --- reductions: over every dimension in which the output has size 1 ----------------------------------------------------
  sum, mean, max,
  norm,                            // square root of the sum of squares
  argmax,                          // out (i64) <- index of the first maximum along the one dimension scalar[0]

  // --- rows: along dimension scalar[0] ------------------------------------------------------------------------------------
  softmax, log_softmax,
  softmax_backward, log_softmax_backward,  // dx <- dy, y

  // --- normalisation: x [rows, columns]; [n, c, s] ------------------------------------------------------------------------
  layer_norm,                      // out, mean [rows], rstd [rows] <- x, weight, bias (may be absent); scalar: eps
  layer_norm_backward,             // dx <- dy, x, weight (may be absent), mean, rstd
  layer_norm_weight_backward,      // dweight [columns], dbias [columns] <- dy, x, mean, rstd
  batch_norm,                      // out, mean [c], rstd [c], running mean, running variance <- x, weight, bias; the last
                                   // four may be absent (running: also written); scalars: eps, momentum
  batch_norm_eval,                 // out <- x, mean, variance, weight, bias (may be absent); scalar: eps
  batch_norm_backward,             // dx, dweight [c], dbias [c] <- dy, x, weight (may be absent), mean, rstd; scalars:
                                   // 1 for statistics of the batch, else 0 and the last operand is the variance; eps

  // --- losses over classes: log probabilities [n, c, s], target [n, s] (i64) ------------------------------------------------
  nll_loss,                        // out, total weight [] <- log p, target, weight [c] (may be absent); scalars: reduction
                                   // (0 none: out [n,s], 1 mean, 2 sum: out []), ignored class
  nll_loss_backward,               // dlogp <- dy, target, weight (may be absent), total weight; scalars as above

  // --- indexing: i64 indices of one shape, one a leading dimension of x; scalar[0] != 0: none may be negative, else those
  // count from the end ---------------------------------------------------------------------------------------------------------
  index,                           // out [indices' shape, rest of x] <- x, i0, i1, i2, i3 (from i1 on may be absent)
  index_add,                       // out (also read) <- out with values added; operands: out, values, i0, i1, i2, i3

  // --- steps of training, in place --------------------------------------------------------------------------------------------
  sgd_step,                        // parameter, momentum (may be absent) <- gradient; scalars: lr, momentum, dampening,
                                   // weight decay; nesterov, 1 at the first step (integers)
  adam_step,                       // parameter, average, average of squares <- gradient; scalars: lr, beta1, beta2, eps,
                                   // weight decay; decoupled, step (1, 2, …) (integers)
  amp_unscale,                     // gradient, found_inf [] <- inverse scale []: PyTorch's _amp_foreach_non_finite_check…
  amp_update_scale,                // scale [], growth tracker [] (i32) <- found_inf []; scalars: growth, backoff;
                                   // interval (integer)
};
// clang-format on
inline constexpr int kKernelCount = static_cast<int>(Kernel::amp_update_scale) + 1;
constexpr bool is_elementwise(Kernel kernel) { return kernel < Kernel::matmul; }

enum class Access : std::uint8_t { read = 1, write = 2, read_write = 3 };

inline constexpr int kMaxOperands = 8;
inline constexpr int kMaxScalars = 8;

struct Operand {
  void* data = nullptr;  // the first element
  Dtype dtype = Dtype::f32;
  Access access = Access::read;
  Dims sizes;
  Dims strides;  // in elements
  std::string_view name;
};

// 64-bit scalars travel as bit patterns.
inline std::uint64_t scalar_bits(double value) { return std::bit_cast<std::uint64_t>(value); }
inline double scalar_value(std::uint64_t bits) { return std::bit_cast<double>(bits); }

// In the place of an operand that may be absent.
inline Operand absent_operand(Access access = Access::read) { return {nullptr, Dtype::f32, access, {0}, {1}, {}}; }
inline bool is_absent(const Operand& operand) { return operand.sizes.count() == 1 && operand.sizes[0] == 0; }

struct KernelCall {
  Kernel kernel{};
  std::array<Operand, kMaxOperands> operands;
  int operand_count = 0;
  std::array<std::uint64_t, kMaxScalars> scalars{};

  std::span<const Operand> all() const { return {operands.data(), static_cast<std::size_t>(operand_count)}; }
  void push(const Operand& operand) { operands[static_cast<std::size_t>(operand_count++)] = operand; }
};

// What a kernel does, counted: floating point operations and bytes of device memory read plus written.
struct KernelCost {
  std::uint64_t flops = 0;
  std::uint64_t bytes = 0;
  std::uint64_t steps = 0;  // elements visited, for the work budget of the simulated card
  Dtype rate = Dtype::f32;  // whose arithmetic rate applies
  bool matrix = false;      // runs at the matrix rate of its dtype
};

LABRIG_API std::string_view name_of(Kernel kernel);
// Operands before this one are written, those from it on are only read.
LABRIG_API int outputs_of(Kernel kernel);
LABRIG_API Access access_of(Kernel kernel, int operand);
LABRIG_API std::optional<Kernel> kernel_from_index(std::uint16_t index);
// Nothing when the call fits the kernel's schema, else a sentence that says what does not. Never throws; the sizes and
// strides may be hostile (negative, overflowing): no arithmetic here may trap.
LABRIG_API std::optional<std::string> schema_violation(const KernelCall& call);
// Only for calls without a violation. 64-bit saturating.
LABRIG_API KernelCost cost_of(const KernelCall& call);

}  // namespace labrig
