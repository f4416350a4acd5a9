// Task 3's truth: models drawn in two groups, and the largest batch with which each really trains on a card of its
// size, found by training on simulated cards in cost-only mode. For the judge only.
#pragma once

#include <algorithm>
#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "interface.hpp"
#include "labrig/cost_card.hpp"
#include "labrig/lab.hpp"
#include "labrig/memory.hpp"
#include "labrig/ops.hpp"
#include "labrig/optim.hpp"

namespace oom_triage {

inline constexpr int kModels = 20;

// Which part of the memory of a model decides.
enum class Group : std::uint8_t { parameters, activations };

struct Question {
  Group group{};
  ModelShape model;
  Optimizer optimizer{};
  labrig::Dtype precision{};
  std::size_t capacity_bytes = 0;

  double parameters() const {
    double sum = 0;
    for (const Layer& layer : model.layers) sum += static_cast<double>(layer.out * (layer.in + 1));
    return sum;
  }
};

inline std::vector<Question> draw_questions(std::uint64_t seed) {
  labrig::lab::Random random(seed);
  std::vector<Question> questions;
  for (int i = 0; i < kModels; ++i) {
    Question q;
    q.group = i % 2 == 0 ? Group::parameters : Group::activations;
    const bool wide = q.group == Group::parameters;
    // Weights of wide models fill their segments; samples of the others are long.
    const std::int64_t width = wide ? 1024 * random.integer(3, 4) : 64 * random.integer(3, 8);
    const std::int64_t depth = random.integer(4, wide ? 5 : 7);
    for (std::int64_t l = 0; l < depth; ++l)
      q.model.layers.push_back(
          {l == 0 && !wide ? width / 2 : width, l + 1 == depth && !wide ? width / 4 : width, l + 1 < depth});
    q.model.tokens = wide ? random.integer(8, 24) : random.integer(40, 120);
    q.optimizer = wide ? Optimizer::adam : static_cast<Optimizer>(random.integer(0, 2));
    q.precision = i % 4 < 2 ? labrig::kF32 : i % 8 < 4 ? labrig::kF16 : labrig::kBF16;
    const double fixed = 4 * q.parameters() * static_cast<double>(labrig::element_bytes(q.precision));
    const double mib = wide ? fixed / random.uniform(0.4, 0.55) / 1048576 : random.uniform(300, 800);
    q.capacity_bytes = (static_cast<std::size_t>(mib) / 2 * 2) << 20;
    questions.push_back(q);
  }
  return questions;
}

// A card of the question's size, on which batches are tried.
class Trial {
 public:
  explicit Trial(const Question& question)
      : question_(question), card_("h200", {.capacity_bytes = question.capacity_bytes}), device_(card_.device()) {
    const labrig::Options options{question.precision, device_};
    for (const Layer& layer : question.model.layers) {
      model_.push_back(labrig::nn::Linear(layer.in, layer.out, true, options));
      if (layer.relu) model_.push_back(labrig::nn::ReLU());
    }
    if (question.optimizer == Optimizer::adam) {
      optimizer_ = std::make_unique<labrig::optim::Adam>(model_.parameters());
    } else {
      optimizer_ = std::make_unique<labrig::optim::SGD>(
          model_.parameters(),
          labrig::optim::SgdOptions{.momentum = question.optimizer == Optimizer::momentum ? 0.9 : 0});
    }
    step(1);  // now there are gradients, and the optimizer has its state
  }

  // To within half a percent, and never too small.
  std::int64_t largest() {
    const double fixed = peak_of(1);
    const double a_sample = (peak_of(9) - fixed) / 8;
    const double room = static_cast<double>(question_.capacity_bytes) - fixed;
    // From a little below the straight line outwards (segments are never quite full), then in between.
    auto fits = static_cast<std::int64_t>(room / a_sample * 0.93);
    const std::int64_t stride = std::max<std::int64_t>(1, fits / 32);
    std::int64_t too_many = 0;  // not known yet
    for (; !trains(fits); fits -= stride) too_many = fits;
    while (too_many == 0) trains(fits + stride) ? fits += stride : too_many = fits + stride;
    while (too_many - fits > std::max<std::int64_t>(1, fits / 200)) {
      const std::int64_t middle = (fits + too_many) / 2;
      trains(middle) ? fits = middle : too_many = middle;
    }
    return too_many - 1;
  }

 private:
  void step(std::int64_t batch) {
    const auto samples = [&](std::int64_t width) {
      return labrig::empty({batch, question_.model.tokens, width}, {question_.precision, device_});
    };
    const labrig::Tensor x = samples(question_.model.layers.front().in), y = samples(question_.model.layers.back().out);
    labrig::mse_loss(model_(x), y).backward();
    optimizer_->step();
  }
  // As in a program that has just begun: large segments of a try that failed would be cut into pieces by the next one.
  bool trains(std::int64_t batch) {
    labrig::empty_cache(device_);
    try {
      step(batch);
      return true;
    } catch (const labrig::OutOfMemoryError&) {
      return false;
    }
  }
  double peak_of(std::int64_t batch) {
    labrig::reset_peak_memory_stats(device_);
    step(batch);
    return static_cast<double>(labrig::max_memory_allocated(device_));
  }

  const Question& question_;
  labrig::lab::CostCard card_;
  labrig::Device device_;
  labrig::nn::Sequential model_;
  std::unique_ptr<labrig::optim::Optimizer> optimizer_;
};

}  // namespace oom_triage
