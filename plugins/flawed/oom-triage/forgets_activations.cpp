// The mistake: what the layers give is left out of the sum, although it is kept for the way back.
#include "correct.hpp"

using namespace flawed;

class ForgetsActivations : public Correct {
  double activations(double, double) override { return 0; }
};

LABRIG_SUBMISSION(ForgetsActivations)
