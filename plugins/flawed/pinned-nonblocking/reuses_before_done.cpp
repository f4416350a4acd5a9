// The mistake: a buffer is read into again while the copy out of it may still be under way.
#include "correct.hpp"

using namespace flawed;

class ReusesBeforeDone : public Correct {
 protected:
  void wait_for_buffer(const Event&) const override {}
};

LABRIG_SUBMISSION(ReusesBeforeDone)
