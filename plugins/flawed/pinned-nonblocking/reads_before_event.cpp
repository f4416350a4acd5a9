// The mistake: an event is recorded behind the copies, and nobody waits for it.
#include "correct.hpp"

using namespace flawed;

class ReadsBeforeEvent : public Correct {
 public:
  void fetch(std::span<const Tensor> results, std::span<const Tensor> buffers) override {
    for (std::size_t i = 0; i < results.size(); ++i) buffers[i].copy_(results[i], true);
    if (!results.empty()) labrig::current_stream(results[0].device()).record_event();
  }
};

LABRIG_SUBMISSION(ReadsBeforeEvent)
