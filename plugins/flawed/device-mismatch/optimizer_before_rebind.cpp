// The mistake: the optimizer of the first model goes on after a new one was built.
#include "correct.hpp"

using namespace flawed;

class OptimizerBeforeRebind : public Correct {
 protected:
  bool renews_optimizer() override { return false; }
};

LABRIG_SUBMISSION(OptimizerBeforeRebind)
