// The mistake: the parameters themselves are kept in 16 bits, so that small steps are rounded away.
#include "correct.hpp"

using namespace flawed;

class MasterWeightsHalf : public Correct {
 protected:
  Tensor master(const Tensor& start, Dtype low) const override { return start.to(low).requires_grad_(); }
};

LABRIG_SUBMISSION(MasterWeightsHalf)
