// The mistake: a synchronize() after every batch, to be safe; the results would be right without.
#include "correct.hpp"
#include "labrig/stream.hpp"

using namespace flawed;

class SyncsToBeSafe : public Correct {
 public:
  Tensor score(std::span<const Batch> batches, const Model& model, Device device) override {
    const Network network(model, device);
    std::vector<Tensor> scores;
    for (const Batch& b : batches) {
      scores.push_back(network(b.features.to(device), b.mask.to(device), b.bias.to(device)));
      labrig::synchronize(device);
    }
    return labrig::cat(scores).cpu();
  }
};

LABRIG_SUBMISSION(SyncsToBeSafe)
