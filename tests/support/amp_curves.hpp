// What the loss curves of mixed precision look like: rules that hold for those recorded from PyTorch
// (tests/golden/core/amp_curves) and are expected of ours. Eight batches come again and again; small losses are those
// that were multiplied by 1e-6.
#pragma once

#include <cmath>
#include <cstddef>
#include <vector>

namespace labrig::test {

using Losses = std::vector<double>;
inline constexpr std::size_t kCurveBatches = 8;

// The mean of the last time around the batches.
inline double end_of(const Losses& losses) {
  double sum = 0;
  for (std::size_t i = losses.size() - kCurveBatches; i < losses.size(); ++i) sum += losses[i];
  return sum / kCurveBatches;
}

inline bool learns(const Losses& losses, double part_left) { return end_of(losses) < part_left * losses.front(); }

// Begins where the other does, and ends within 3 % of it.
inline bool goes_as(const Losses& losses, const Losses& other) {
  return std::fabs(losses.front() - other.front()) < 1e-3 * other.front() &&
         std::fabs(end_of(losses) - end_of(other)) < 0.03 * end_of(other);
}

// A first loss, and nothing after the first step.
inline bool is_nan_after_a_step(const Losses& losses) {
  bool all = std::isfinite(losses.front());
  for (std::size_t i = 1; i < losses.size(); ++i) all = all && std::isnan(losses[i]);
  return all;
}

// Every gradient has become 0: each batch has the loss that it had the last time around.
inline bool sticks(const Losses& losses) {
  for (std::size_t i = kCurveBatches; i < losses.size(); ++i) {
    if (!(std::fabs(losses[i] - losses[i - kCurveBatches]) <= 1e-6 * losses[i])) return false;
  }
  return true;
}

}  // namespace labrig::test
