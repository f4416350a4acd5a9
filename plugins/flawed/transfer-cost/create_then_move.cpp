// The mistake: the constant is made on the host and moved, instead of being born on the card.
#include "correct.hpp"

using namespace flawed;

class CreateThenMove : public Correct {
 public:
  Tensor constant(const Dims& shape, double value, Device device) override {
    return labrig::full(shape, value).to(device);
  }
};

LABRIG_SUBMISSION(CreateThenMove)
