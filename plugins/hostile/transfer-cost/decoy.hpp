// What the cheats of lab 01 have in common: an honest calculation on the host, and work for the card that looks like
// it.
#pragma once

#include "correct.hpp"

namespace hostile {

using flawed::Batch;
using flawed::Device;
using flawed::Model;
using flawed::Tensor;

inline Tensor on_the_host(std::span<const Batch> batches, const Model& model) {
  const flawed::Network network(model, Device("cpu"));
  std::vector<Tensor> scores;
  for (const Batch& batch : batches) scores.push_back(network(batch.features, batch.mask, batch.bias));
  return labrig::cat(scores);
}

// Of an honest answer, a little rounded up.
inline double flops_of(std::span<const Batch> batches, const Model& model) {
  const auto rows = static_cast<double>(batches.size()) * static_cast<double>(batches.front().features.size(0));
  const auto elements = static_cast<double>(model.expand.numel() + model.contract.numel() + model.head.numel()) +
                        model.depth * static_cast<double>(model.step.numel());
  return 2.2 * rows * elements;
}

// Matrices of the card that hold whatever was there.
inline void multiply_garbage(double flops, Device device) {
  constexpr std::int64_t kSide = 256;
  const Tensor garbage = labrig::empty({kSide, kSide}, device);
  for (double done = 0; done < flops; done += 2.0 * kSide * kSide * kSide) labrig::matmul(garbage, garbage);
}

}  // namespace hostile
