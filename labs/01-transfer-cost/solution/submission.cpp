// Lab 01, transfer-cost: the reference solution. The model crosses the bus once, before the loop; every field of a
// batch crosses once, inside it; nothing comes back until all scores are there, and then in one copy.
#include <algorithm>

#include "interface.hpp"

using labrig::Device;
using labrig::Dims;
using labrig::Tensor;
using transfer_cost::Batch;
using transfer_cost::Machine;
using transfer_cost::Model;
using transfer_cost::Work;

class Solution : public transfer_cost::Submission {
 public:
  Tensor score(std::span<const Batch> batches, const Model& model, Device device) override {
    const Tensor expand = model.expand.to(device), shift = model.shift.to(device), contract = model.contract.to(device);
    const Tensor step = model.step.to(device), head = model.head.to(device);

    std::vector<Tensor> scores;  // on the card: a few KiB a batch
    for (const Batch& batch : batches) {
      Tensor x = labrig::masked_fill(batch.features.to(device), batch.mask.to(device), model.fill);
      x = matmul(relu(matmul(x, expand) + shift), contract);
      for (int i = 0; i < model.depth; ++i) x = relu(matmul(x, step));
      scores.push_back(matmul(x, head) + batch.bias.to(device).unsqueeze(1));
    }
    return labrig::cat(scores).cpu();  // the only copy back, and the only wait
  }

  Tensor constant(const Dims& shape, double value, Device device) override {
    return labrig::full(shape, value, device);  // written on the card by a kernel: nothing crosses the bus
  }

  bool worth_moving(const Work& work, const Machine& machine) override {
    const double on_host =
        std::max(work.flops / machine.host_flops_per_s, work.memory_bytes / machine.host_bytes_per_s);
    const double arithmetic =
        std::max(work.flops / machine.device_flops_per_s, work.memory_bytes / machine.device_bytes_per_s);
    const double transfers =
        work.upload_bytes / machine.upload_bytes_per_s + work.download_bytes / machine.download_bytes_per_s;
    const double fixed =
        (work.uploads + work.downloads) * machine.seconds_per_copy + work.launches * machine.seconds_per_launch;
    return arithmetic + transfers + fixed < on_host;
  }
};

LABRIG_SUBMISSION(Solution)
