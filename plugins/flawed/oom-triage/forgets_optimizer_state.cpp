// The mistake: what the optimizer keeps for each parameter is left out of the sum.
#include "correct.hpp"

using namespace flawed;

class ForgetsOptimizerState : public Correct {
  double state(Optimizer) override { return 0; }
};

LABRIG_SUBMISSION(ForgetsOptimizerState)
