// The mistake: what is saved is not put back: training goes on with the initial scale.
#include "correct.hpp"

using namespace flawed;

class Forgetful : public RightScaler {
 public:
  using RightScaler::RightScaler;
  void load(const ScalerState& state) override { state_.options = state.options; }
};

class ScaleLostOnResume : public Correct {
 public:
  std::unique_ptr<Scaler> make_scaler(const ScalerOptions& options) override {
    return std::make_unique<Forgetful>(options);
  }
};

LABRIG_SUBMISSION(ScaleLostOnResume)
