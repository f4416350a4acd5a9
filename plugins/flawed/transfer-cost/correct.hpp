// What the flawed variants of lab 01 have in common: the parts that are right. Each variant derives from Correct and
// makes one typical mistake, so that a file here reads as the mistake alone.
#pragma once

#include <algorithm>

#include "interface.hpp"

namespace flawed {

using labrig::Device;
using labrig::Dims;
using labrig::Tensor;
using transfer_cost::Batch;
using transfer_cost::Machine;
using transfer_cost::Model;
using transfer_cost::Work;

// The model on a device.
struct Network {
  Tensor expand, shift, contract, step, head;
  double fill;
  int depth;

  Network(const Model& m, Device d)
      : expand(m.expand.to(d)),
        shift(m.shift.to(d)),
        contract(m.contract.to(d)),
        step(m.step.to(d)),
        head(m.head.to(d)),
        fill(m.fill),
        depth(m.depth) {}

  // Everything on one device.
  Tensor operator()(const Tensor& features, const Tensor& mask, const Tensor& bias) const {
    Tensor x = labrig::masked_fill(features, mask, fill);
    x = labrig::matmul(labrig::relu(labrig::matmul(x, expand) + shift), contract);
    for (int i = 0; i < depth; ++i) x = labrig::relu(labrig::matmul(x, step));
    return labrig::matmul(x, head) + bias.unsqueeze(1);
  }
};

class Correct : public transfer_cost::Submission {
 public:
  Tensor score(std::span<const Batch> batches, const Model& model, Device device) override {
    const Network network(model, device);
    std::vector<Tensor> scores;
    for (const Batch& b : batches)
      scores.push_back(network(b.features.to(device), b.mask.to(device), b.bias.to(device)));
    return labrig::cat(scores).cpu();
  }

  Tensor constant(const Dims& shape, double value, Device device) override {
    return labrig::full(shape, value, device);
  }

  bool worth_moving(const Work& w, const Machine& m) override {
    const double host = std::max(w.flops / m.host_flops_per_s, w.memory_bytes / m.host_bytes_per_s);
    const double card = std::max(w.flops / m.device_flops_per_s, w.memory_bytes / m.device_bytes_per_s) +
                        w.upload_bytes / m.upload_bytes_per_s + w.download_bytes / m.download_bytes_per_s +
                        (w.uploads + w.downloads) * m.seconds_per_copy + w.launches * m.seconds_per_launch;
    return card < host;
  }
};

}  // namespace flawed
