// The mistake: copies and kernels are queued in one stream, and take turns there.
#include "correct.hpp"

using namespace flawed;

class OneStream : public Correct {
 protected:
  Stream copy_stream(Device device) const override { return labrig::current_stream(device); }
};

LABRIG_SUBMISSION(OneStream)
