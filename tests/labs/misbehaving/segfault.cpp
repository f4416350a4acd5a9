// Misbehaves on purpose: writes through a null pointer.
#include "correct.hpp"

using namespace flawed;

class Misbehaving : public Correct {
 public:
  Tensor score(std::span<const Batch> batches, const Model& model, Device device) override {
    *static_cast<volatile int*>(nullptr) = 1;
    return Correct::score(batches, model, device);
  }
};

LABRIG_SUBMISSION(Misbehaving)
