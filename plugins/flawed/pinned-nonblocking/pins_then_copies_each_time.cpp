// The mistake: every chunk is read into ordinary memory, and copied into a pinned tensor before it is copied to the
// card.
#include "correct.hpp"

using namespace flawed;

class PinsThenCopiesEachTime : public Correct {
 protected:
  Tensor make_buffer(const Source& source) const override { return labrig::empty(source.chunk_sizes()); }
  Tensor upload(const Tensor& buffer, Device device) const override { return buffer.pin_memory().to(device, true); }
};

LABRIG_SUBMISSION(PinsThenCopiesEachTime)
