// The mistake: the gradients of the micro-batches are added up as they are, so that a step in five parts is five times
// as large.
#include "correct.hpp"

using namespace flawed;

class ForgetsToAverage : public Correct {
  double share(std::int64_t, std::int64_t) override { return 1; }
};

LABRIG_SUBMISSION(ForgetsToAverage)
