// The mistake: the buffers are pinned, but nobody asks the copies not to block.
#include "correct.hpp"

using namespace flawed;

class PlainBlocking : public Correct {
 protected:
  Tensor upload(const Tensor& buffer, Device device) const override { return buffer.to(device); }
};

LABRIG_SUBMISSION(PlainBlocking)
