// The mistake: gradients are clipped while they are still multiplied by the scale, so that their norm is far above any
// limit.
#include "correct.hpp"

using namespace flawed;

class ClipsScaledGradients : public Correct {
 protected:
  void before_clipping(Scaler&, Optimizer&) const override {}
};

LABRIG_SUBMISSION(ClipsScaledGradients)
