// A described model on a card of paper, and its training step. Read next: paper_ops.cpp, plan.cpp (what is read off).
#pragma once

#include <deque>

#include "plan/paper.hpp"
#include "plan/units.hpp"

namespace labrig::plan {

// A unit with its parameters, in the order in which labrig::nn makes them.
struct PaperLayer {
  const Unit* unit = nullptr;
  std::vector<PaperParameter*> parameters;
  std::vector<PaperTensor> buffers;
  std::vector<PaperLayer> inside;  // of a residual
};

class PaperTraining {
 public:
  // `units` must live as long. Throws OutOfMemoryError, here and in step().
  PaperTraining(const Units& units, Loss loss, const Training& training, std::size_t capacity_bytes);
  PaperTraining(const PaperTraining&) = delete;
  PaperTraining& operator=(const PaperTraining&) = delete;

  void step();
  const PaperCard& card() const { return card_; }
  // Numbers, by row of the description.
  const std::vector<std::int64_t>& parameters() const { return count_; }
  // The moment in the last step when the forward pass was done: what is held then, backward() needs.
  std::size_t forward_done() const { return forward_done_; }

 private:
  PaperLayer made(const Unit& unit);
  PaperParameter* parameter(const Dims& sizes, std::size_t row);
  void linear_parameters(PaperLayer& layer, std::int64_t in, std::int64_t out, bool bias);
  void norm_parameters(PaperLayer& layer, std::int64_t width);

  PaperTensor forward(const std::vector<PaperLayer>& layers, PaperTensor x);
  PaperTensor forward(const PaperLayer& layer, const PaperTensor& x);
  PaperTensor attention(const PaperLayer& layer, const PaperTensor& x);
  PaperTensor residual(const PaperLayer& layer, const PaperTensor& x);
  PaperTensor loss();
  void optimize();

  const Units& units_;
  Loss loss_;
  Training training_;
  PaperCard card_;
  Paper paper_;
  std::vector<std::int64_t> count_;
  std::size_t forward_done_ = 0;
  PaperTensor x_, target_, scale_;
  std::deque<PaperParameter> parameters_;
  std::vector<PaperLayer> layers_;
};

}  // namespace labrig::plan
