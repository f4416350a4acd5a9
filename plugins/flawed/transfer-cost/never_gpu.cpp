// The mistake: the move is never thought to be worth it.
#include "correct.hpp"

using namespace flawed;

class NeverGpu : public Correct {
 public:
  bool worth_moving(const Work&, const Machine&) override { return false; }
};

LABRIG_SUBMISSION(NeverGpu)
