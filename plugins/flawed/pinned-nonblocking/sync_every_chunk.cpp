// The mistake: the whole card is waited for after every chunk, to be safe.
#include "correct.hpp"

using namespace flawed;

class SyncEveryChunk : public Correct {
 protected:
  void after_work(Device device) const override { labrig::synchronize(device); }
};

LABRIG_SUBMISSION(SyncEveryChunk)
