// Lab 03, oom-triage: what a submission must offer. You write the three functions at the end; the handout explains
// them, and `labrig check` says what each is judged by. All sizes are bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "labrig/history.hpp"
#include "labrig/nn.hpp"
#include "labrig/submission.hpp"
#include "labrig/tensor.hpp"

namespace oom_triage {

// --- task 1 --------------------------------------------------------------------------------------------------

// What is wrong, and where in the history it shows: numbers of `history.rows`; the number behind the last one stands
// for `history.failure`. The handout says which rows prove which cause. No more than the first four are looked at.
struct Diagnosis {
  labrig::MemoryCause cause = labrig::MemoryCause::healthy;
  std::vector<std::int64_t> rows;
};

// --- task 2 --------------------------------------------------------------------------------------------------

// Samples on the host: inputs [count, tokens, in] and targets [count, tokens, out], f32.
struct Samples {
  labrig::Tensor x, y;
};

// A training job. The card may be too small for all samples of a step at once.
class Job {
 public:
  virtual ~Job() = default;
  virtual std::int64_t steps() const = 0;
  virtual std::int64_t samples() const = 0;  // of each step
  // Linear layers with a ReLU between them. It lies on the host at first; `model().to(device)` moves it.
  virtual labrig::nn::Sequential& model() = 0;
  virtual double learning_rate() const = 0;
  // Samples first … first + count - 1 of a step; as often as you like. Throws `no-samples` when there are none, and
  // `too-many-tries` once memory has run out 13 times with no samples getting through in between.
  virtual Samples take(std::int64_t step, std::int64_t first, std::int64_t count) = 0;
};

// --- task 3 --------------------------------------------------------------------------------------------------

struct Layer {
  std::int64_t in = 0, out = 0;  // a weight [out, in] and a bias [out]
  bool relu = false;             // behind it
};
// One sample is [tokens, layers.front().in]; so is its target, with layers.back().out.
struct ModelShape {
  std::vector<Layer> layers;
  std::int64_t tokens = 1;
};
// Plain gradient descent, the same with momentum, and Adam: they keep 0, 1 and 2 numbers for each parameter.
enum class Optimizer : std::uint8_t { sgd, momentum, adam };

class Submission : public labrig::SubmissionBase<Submission> {
 public:
  static constexpr std::string_view lab_id = "oom-triage";

  // What is wrong in this run.
  virtual Diagnosis diagnose(const labrig::MemoryHistory& history) = 0;

  // Trains job.model() on `device`: in each step one update of plain gradient descent (optim::SGD without momentum)
  // with the gradient of mse_loss over all samples of the step. Returns the losses of the steps (each before its
  // update), one tensor [steps], on whichever device. Where not even one sample fits, the core's OutOfMemoryError comes
  // out.
  virtual labrig::Tensor train(Job& job, labrig::Device device) = 0;

  // How many samples can go through the model and back at once, on a card with this much memory and nobody else on it:
  // parameters, optimizer state and the gradients of earlier samples are there already. All of it is of type
  // `precision`.
  virtual std::int64_t largest_batch(const ModelShape& model, Optimizer optimizer, labrig::Dtype precision,
                                     std::size_t capacity_bytes) = 0;
};

}  // namespace oom_triage
