// The mistake: whatever the history says, the batch is too big.
#include "correct.hpp"

using namespace flawed;

class BlamesTheBatch : public Correct {
 public:
  Diagnosis diagnose(const MemoryHistory& history) override {
    return {MemoryCause::batch_too_big, {static_cast<std::int64_t>(history.rows.size())}};
  }
};

LABRIG_SUBMISSION(BlamesTheBatch)
