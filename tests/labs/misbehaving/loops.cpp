// Misbehaves on purpose: never returns.
#include "correct.hpp"

using namespace flawed;

class Misbehaving : public Correct {
 public:
  Tensor score(std::span<const Batch> batches, const Model& model, Device device) override {
    volatile bool on = true;
    while (on) {
    }
    return Correct::score(batches, model, device);
  }
};

LABRIG_SUBMISSION(Misbehaving)
