// The mistake: the same step is tried again as it was, in the hope that it fits now.
#include "correct.hpp"

using namespace flawed;

class RetriesUnchanged : public Correct {
  bool goes_on(std::int64_t) override { return ++tries_ < 4; }
  std::int64_t next(std::int64_t micro) override { return micro; }
  int tries_ = 0;
};

LABRIG_SUBMISSION(RetriesUnchanged)
