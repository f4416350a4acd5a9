// Lab 01, transfer-cost: what a submission must offer. You write the three functions below; the handout explains them,
// and `labrig check` says what each is judged by. Everything in a Batch and in the Model starts in ordinary (pageable)
// host memory.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

#include "labrig/ops.hpp"
#include "labrig/submission.hpp"
#include "labrig/tensor.hpp"

namespace transfer_cost {

// One batch of rows to score, on the host.
struct Batch {
  labrig::Tensor features;  // [rows, width] f32
  labrig::Tensor mask;      // [rows, width] bool: true where a feature is missing
  labrig::Tensor bias;      // [rows] f32: added to every score of its row
};

// The network, on the host. All f32.
struct Model {
  labrig::Tensor expand;    // [width, hidden]
  labrig::Tensor shift;     // [hidden]
  labrig::Tensor contract;  // [hidden, width]
  labrig::Tensor step;      // [width, width], applied `depth` times
  labrig::Tensor head;      // [width, classes]
  double fill = 0;          // stands in for missing features
  int depth = 0;
  std::size_t device_budget_bytes = 0;  // what the job may hold on the card at any moment: the model and two batches
};

// A piece of work that could run on the host or on the card. All of it, transfers included, happens once.
struct Work {
  double flops = 0;           // floating point operations
  double memory_bytes = 0;    // read and written by the arithmetic, on whichever side it runs
  double upload_bytes = 0;    // what a card would have to receive first …
  double download_bytes = 0;  // … and send back afterwards
  double uploads = 0;         // in so many copies
  double downloads = 0;
  double launches = 0;  // kernels it takes on a card
};

// A host and its card, measured. Rates are sustained.
struct Machine {
  double host_flops_per_s = 0, host_bytes_per_s = 0;
  double device_flops_per_s = 0, device_bytes_per_s = 0;
  double upload_bytes_per_s = 0, download_bytes_per_s = 0;
  double seconds_per_copy = 0;    // whatever its size
  double seconds_per_launch = 0;  // whatever the kernel does
};

class Submission : public labrig::SubmissionBase<Submission> {
 public:
  static constexpr std::string_view lab_id = "transfer-cost";

  // The scores of all batches, one below the other: a CPU tensor [batches * rows, classes], f32. For each batch:
  //   x = features with `fill` where the mask is true
  //   x = relu(x expand + shift) contract
  //   x = relu(x step), `depth` times
  //   scores = x head + bias, the bias of a row added to each of its scores
  virtual labrig::Tensor score(std::span<const Batch> batches, const Model& model, labrig::Device device) = 0;

  // A tensor of this shape on `device` (f32), every element `value`.
  virtual labrig::Tensor constant(const labrig::Dims& shape, double value, labrig::Device device) = 0;

  // True when the work is done sooner on the card, its transfers included.
  virtual bool worth_moving(const Work& work, const Machine& machine) = 0;
};

}  // namespace transfer_cost
