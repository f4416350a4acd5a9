// The mistake: nothing ends the halving, not even a single sample that does not fit.
#include "correct.hpp"

using namespace flawed;

class HalvesForever : public Correct {
  bool goes_on(std::int64_t) override { return true; }
  std::int64_t next(std::int64_t micro) override { return micro / 2; }
};

LABRIG_SUBMISSION(HalvesForever)
