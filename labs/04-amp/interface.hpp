// Lab 04, amp: what a submission must offer. You write the three functions below; the handout explains them, and
// `labrig check` says what each is judged by. labrig::amp, which has all of this ready, is not for this lab.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>

#include "labrig/capability.hpp"
#include "labrig/ops.hpp"
#include "labrig/optim.hpp"
#include "labrig/submission.hpp"
#include "labrig/tensor.hpp"

namespace amp_lab {

// --- task 2: the scaler ----------------------------------------------------------------------------------------------
struct ScalerOptions {
  double init_scale = 65536;
  double growth_factor = 2;
  double backoff_factor = 0.5;
  std::int64_t growth_interval = 2000;  // good iterations in a row before the scale grows
};

// All that a scaler has to remember from one run to the next.
struct ScalerState {
  ScalerOptions options;  // init_scale is not looked at
  double scale = 0;
  std::int64_t growth_tracker = 0;  // good iterations since the scale last changed
};

// One iteration is: scale(loss).backward(), for each optimizer perhaps unscale() and then step(), and one update().
class Scaler {
 public:
  virtual ~Scaler() = default;

  // loss * scale, with a way back.
  virtual labrig::Tensor scale(const labrig::Tensor& loss) = 0;
  // Divides the gradients of the optimizer's parameters by the scale, in place. Called at most once an iteration and
  // optimizer, by someone who wants to see true gradients before step().
  virtual void unscale(labrig::optim::Optimizer& optimizer) = 0;
  // Unscales unless unscale() has done it for this optimizer in this iteration; then the optimizer steps, unless a
  // gradient of its own is inf or NaN. Returns whether it stepped.
  virtual bool step(labrig::optim::Optimizer& optimizer) = 0;
  // Ends the iteration. When any optimizer met inf or NaN: scale *= backoff_factor, and the tracker is 0. Otherwise the
  // tracker goes up by one, and where that makes it growth_interval, scale *= growth_factor and the tracker is 0; but
  // the scale is an f32 number, and does not grow to infinity.
  virtual void update() = 0;

  virtual ScalerState state() const = 0;
  virtual void load(const ScalerState& state) = 0;
};

// --- task 3: training ------------------------------------------------------------------------------------------------
// f32. linear() takes the weights as they are: [out, in].
struct Network {
  labrig::Tensor input;      // [width, features]
  labrig::Tensor bias;       // [width]
  labrig::Tensor again;      // [width, width]
  labrig::Tensor head;       // [classes, width]
  labrig::Tensor head_bias;  // [classes]
};

// A small recurrent network, trained on one batch. The same weights are used at each time t:
//   h(0)   = tanh(linear(x[0], input, bias))
//   h(t)   = tanh(linear(x[t], input, bias) + linear(h(t - 1), again))
//   loss   = loss_weight * cross_entropy(linear(h(last), head, head_bias), target)
// Each step is plain SGD: p -= lr * gradient. Where max_norm is not 0, all gradients are multiplied by
// max_norm / norm before that, if their norm (of all of them together) is above it.
struct Job {
  Network start;
  labrig::Tensor x;       // [times, rows, features] f32
  labrig::Tensor target;  // [rows] i64: class numbers
  std::int64_t steps = 0;
  double lr = 0;
  double loss_weight = 1;
  double max_norm = 0;
};

// On the CPU, f32.
struct Trained {
  labrig::Tensor losses;  // [steps]: the loss of each step, before its update
  Network network;        // after the last step
};

class Submission : public labrig::SubmissionBase<Submission> {
 public:
  static constexpr std::string_view lab_id = "amp";

  // Task 1. The type of the result of PyTorch's operator `op`, run on a card in an autocast region for `low` (f16 or
  // bf16), when its floating point inputs have the types a and b (each f32 or `low`). An operator with one input
  // ignores b. No type where autocast refuses to run it.
  virtual std::optional<labrig::Dtype> precision_of(std::string_view op, labrig::Dtype low, labrig::Dtype a,
                                                    labrig::Dtype b) = 0;

  // Task 2.
  virtual std::unique_ptr<Scaler> make_scaler(const ScalerOptions& options) = 0;

  // Task 3. Everything in the job lies in host memory; the training happens on `device`, in mixed precision.
  virtual Trained train(const Job& job, labrig::Device device) = 0;
};

}  // namespace amp_lab
