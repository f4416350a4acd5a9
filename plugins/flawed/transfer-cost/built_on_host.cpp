// The mistake: besides the mask it was given, each batch gets a second one, made on the host as floats and moved.
#include "correct.hpp"

using namespace flawed;

class BuiltOnHost : public Correct {
 public:
  Tensor score(std::span<const Batch> batches, const Model& model, Device device) override {
    const Network network(model, device);
    std::vector<Tensor> scores;
    for (const Batch& b : batches) {
      const Tensor keep =
          labrig::masked_fill(labrig::ones(b.features.sizes()), b.mask, 0);         // 1 where a feature is there
      const Tensor features = labrig::mul(b.features.to(device), keep.to(device));  // no missing value gets in
      scores.push_back(network(features, b.mask.to(device), b.bias.to(device)));
    }
    return labrig::cat(scores).cpu();
  }
};

LABRIG_SUBMISSION(BuiltOnHost)
