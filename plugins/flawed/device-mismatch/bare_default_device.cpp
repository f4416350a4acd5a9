// The mistake: a device of the right type and without a number, which is whatever card is current.
#include "correct.hpp"

using namespace flawed;

class BareDefaultDevice : public Correct {
 protected:
  Device used(Device asked) override { return Device(asked.type()); }
};

LABRIG_SUBMISSION(BareDefaultDevice)
