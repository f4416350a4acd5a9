// The mistake: the model is moved to the device, the batches are used where they are.
#include "correct.hpp"

using namespace flawed;

class MovesModelOnly : public Correct {
 protected:
  Batch placed(const Batch& batch, Device) override { return batch; }
};

LABRIG_SUBMISSION(MovesModelOnly)
