// Advice that several inputs share.
#include "triage/advice.hpp"

namespace labrig::triage {

std::vector<std::string> capacity_advice() {
  return {
      "look for what need not live there: evaluation without no_grad, losses or outputs that are kept, a caught "
      "exception that still holds the failed step",
      "if it happens only when resuming: the loaded checkpoint stays on the card beside model and optimizer; load it "
      "to "
      "the host (map_location) and let go of it before training",
      "then make the step smaller: a smaller batch with gradient accumulation, mixed precision, checkpointing of "
      "activations; leave 20 % spare"};
}

}  // namespace labrig::triage
