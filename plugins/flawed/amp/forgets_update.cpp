// The mistake: after an overflow the step is skipped, and the scale stays as it is.
#include "correct.hpp"

using namespace flawed;

class Stubborn : public RightScaler {
  using RightScaler::RightScaler;
  void back_off() override { state_.growth_tracker = 0; }
};

class ForgetsUpdate : public Correct {
 public:
  std::unique_ptr<Scaler> make_scaler(const ScalerOptions& options) override {
    return std::make_unique<Stubborn>(options);
  }
};

LABRIG_SUBMISSION(ForgetsUpdate)
