// The mistake: the card is always thought to be faster.
#include "correct.hpp"

using namespace flawed;

class AlwaysGpu : public Correct {
 public:
  bool worth_moving(const Work&, const Machine&) override { return true; }
};

LABRIG_SUBMISSION(AlwaysGpu)
