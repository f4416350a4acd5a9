// The mistake: the scale only falls.
#include "correct.hpp"

using namespace flawed;

class Falling : public RightScaler {
  using RightScaler::RightScaler;
  void grow() override { state_.growth_tracker = 0; }
};

class NeverGrows : public Correct {
 public:
  std::unique_ptr<Scaler> make_scaler(const ScalerOptions& options) override {
    return std::make_unique<Falling>(options);
  }
};

LABRIG_SUBMISSION(NeverGrows)
