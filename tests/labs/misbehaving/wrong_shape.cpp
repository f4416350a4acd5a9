// Misbehaves on purpose: returns the scores transposed.
#include "correct.hpp"

using namespace flawed;

class Misbehaving : public Correct {
 public:
  Tensor score(std::span<const Batch> batches, const Model& model, Device device) override {
    return Correct::score(batches, model, device).t().contiguous();
  }
};

LABRIG_SUBMISSION(Misbehaving)
