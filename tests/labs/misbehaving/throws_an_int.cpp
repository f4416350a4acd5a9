// Misbehaves on purpose: throws something that is no exception.
#include "correct.hpp"

using namespace flawed;

class Misbehaving : public Correct {
 public:
  Tensor score(std::span<const Batch> batches, const Model& model, Device device) override {
    if (!batches.empty()) throw 42;
    return Correct::score(batches, model, device);
  }
};

LABRIG_SUBMISSION(Misbehaving)
