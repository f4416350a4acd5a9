// The steps of training that change tensors in place, each one kernel: what an optimizer does to one parameter, and
// what GradScaler does to a gradient and to its scale. Nothing here takes part in gradients; the tensors that are
// written count the change (Tensor::version). No call waits for a card. Used by labrig::optim and labrig::amp.
//
// Parameter, gradient and the moments have one floating point type, device and shape. The arithmetic of f16 and bf16 is
// that of f32, rounded to their type after each operation that PyTorch carries out by itself. Throws `dtype-mismatch`,
// `shape-mismatch`, `device-mismatch`.
#pragma once

#include <cstdint>

#include "labrig/export.hpp"
#include "labrig/tensor.hpp"

namespace labrig {

struct SgdStep {
  double lr = 0, momentum = 0, dampening = 0, weight_decay = 0;
  bool nesterov = false;
  bool first = false;  // the momentum buffer holds nothing yet: it becomes the gradient, as it is
};
// As torch.optim.SGD; `buffer` is undefined without momentum.
LABRIG_API void sgd_step(const Tensor& parameter, const Tensor& buffer, const Tensor& gradient, const SgdStep& step);

struct AdamStep {
  double lr = 1e-3, beta1 = 0.9, beta2 = 0.999, eps = 1e-8, weight_decay = 0;
  bool decoupled = false;  // AdamW's decay: of the parameter, not added to the gradient
  std::int64_t step = 1;   // 1 at the first step
};
// As torch.optim.Adam and AdamW.
LABRIG_API void adam_step(const Tensor& parameter, const Tensor& average, const Tensor& average_of_squares,
                          const Tensor& gradient, const AdamStep& step);

// gradient *= inverse_scale (f32, []); found_inf (f32, []) becomes 1 when an element of the gradient is not finite, and
// stays what it was otherwise.
LABRIG_API void amp_unscale(const Tensor& gradient, const Tensor& found_inf, const Tensor& inverse_scale);

struct ScaleUpdate {
  double growth = 2, backoff = 0.5;
  std::int64_t interval = 2000;
};
// scale (f32, []) and tracker (i32, []) after a step with this found_inf (f32, []).
LABRIG_API void amp_update_scale(const Tensor& scale, const Tensor& tracker, const Tensor& found_inf,
                                 const ScaleUpdate& update);

}  // namespace labrig
