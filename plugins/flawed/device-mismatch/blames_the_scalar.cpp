// The mistake: a number on the CPU is taken for a culprit like any other value.
#include "correct.hpp"

using namespace flawed;

class BlamesTheScalar : public Correct {
 protected:
  bool is_innocent(const std::string&, const Value&) override { return false; }
};

LABRIG_SUBMISSION(BlamesTheScalar)
