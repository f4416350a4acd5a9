// The mistake: the allocator is not told that a second stream uses the chunk, and hands its memory out again.
#include "correct.hpp"

using namespace flawed;

class FreesInFlight : public Correct {
 protected:
  void hand_over(const Tensor&, const Event& copied, Stream compute) const override { copied.wait(compute); }
};

LABRIG_SUBMISSION(FreesInFlight)
