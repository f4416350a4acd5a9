// The mistake: the copies are asked not to block, but nothing is pinned.
#include "correct.hpp"

using namespace flawed;

class PageableNonblocking : public Correct {
 protected:
  Tensor make_buffer(const Source& source) const override { return labrig::empty(source.chunk_sizes()); }
};

LABRIG_SUBMISSION(PageableNonblocking)
