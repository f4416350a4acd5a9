// The mistake: to() returns the moved tensor; calling it and going on with the old one computes on the host.
#include "correct.hpp"

using namespace flawed;

class DropsTheResult : public Correct {
 public:
  Tensor score(std::span<const Batch> batches, const Model& model, Device device) override {
    const Network network(model, Device("cpu"));
    std::vector<Tensor> scores;
    for (const Batch& b : batches) {
      b.features.to(device);
      b.mask.to(device);
      b.bias.to(device);
      scores.push_back(network(b.features, b.mask, b.bias));
    }
    return labrig::cat(scores);
  }
};

LABRIG_SUBMISSION(DropsTheResult)
