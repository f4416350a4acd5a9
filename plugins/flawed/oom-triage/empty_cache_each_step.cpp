// The mistake: the cache is emptied after each step, "to be safe": the next step asks the driver for everything again.
#include "correct.hpp"

using namespace flawed;

class EmptyCacheEachStep : public Correct {
  void after_step(Device device) override { labrig::empty_cache(device); }
};

LABRIG_SUBMISSION(EmptyCacheEachStep)
