// The mistake: all batches are moved to the card before the first is scored, and stay there until the end.
#include "correct.hpp"

using namespace flawed;

class KeepsEveryBatch : public Correct {
 public:
  Tensor score(std::span<const Batch> batches, const Model& model, Device device) override {
    const Network network(model, device);
    std::vector<Batch> moved;
    for (const Batch& b : batches) moved.push_back({b.features.to(device), b.mask.to(device), b.bias.to(device)});
    std::vector<Tensor> scores;
    for (const Batch& b : moved) scores.push_back(network(b.features, b.mask, b.bias));
    return labrig::cat(scores).cpu();
  }
};

LABRIG_SUBMISSION(KeepsEveryBatch)
