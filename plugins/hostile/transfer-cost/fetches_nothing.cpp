// The cheat: everything goes up and as much arithmetic is done as in an honest answer, but what is returned was
// computed on the host, and nothing comes back but one element.
#include "decoy.hpp"

using namespace hostile;

class FetchesNothing : public flawed::Correct {
 public:
  Tensor score(std::span<const Batch> batches, const Model& model, Device device) override {
    const flawed::Network network(model, device);
    for (const Batch& batch : batches) {
      batch.features.to(device);
      batch.mask.to(device);
      batch.bias.to(device);
    }
    multiply_garbage(flops_of(batches, model), device);
    labrig::empty({1}, device).cpu();
    return on_the_host(batches, model);
  }
};

LABRIG_SUBMISSION(FetchesNothing)
