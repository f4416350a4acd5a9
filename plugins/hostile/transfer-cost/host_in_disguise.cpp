// The cheat: the scores are computed on the host, and the card multiplies matrices that nobody wrote until it has done
// as much arithmetic as an honest answer. One download of the right size looks like the fetch.
#include "decoy.hpp"

using namespace hostile;

class HostInDisguise : public flawed::Correct {
 public:
  Tensor score(std::span<const Batch> batches, const Model& model, Device device) override {
    const Tensor scores = on_the_host(batches, model);
    multiply_garbage(flops_of(batches, model), device);
    labrig::empty(scores.sizes(), device).cpu();
    return scores;
  }
};

LABRIG_SUBMISSION(HostInDisguise)
