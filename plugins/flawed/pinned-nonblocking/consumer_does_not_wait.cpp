// The mistake: the stream that computes does not wait for the copy.
#include "correct.hpp"

using namespace flawed;

class ConsumerDoesNotWait : public Correct {
 protected:
  void hand_over(const Tensor& chunk, const Event&, Stream compute) const override { chunk.record_stream(compute); }
};

LABRIG_SUBMISSION(ConsumerDoesNotWait)
