// The mistake: the model is moved inside the loop, so its weights cross the bus again with every batch.
#include "correct.hpp"

using namespace flawed;

class WeightsEveryBatch : public Correct {
 public:
  Tensor score(std::span<const Batch> batches, const Model& model, Device device) override {
    std::vector<Tensor> scores;
    for (const Batch& b : batches) {
      const Network network(model, device);
      scores.push_back(network(b.features.to(device), b.mask.to(device), b.bias.to(device)));
    }
    return labrig::cat(scores).cpu();
  }
};

LABRIG_SUBMISSION(WeightsEveryBatch)
