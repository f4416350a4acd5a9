// The mistake: the loss is not scaled, so that small gradients are 0 in f16.
#include "correct.hpp"

using namespace flawed;

class NoScaler : public Correct {
 protected:
  std::unique_ptr<Scaler> scaler() override {
    return std::make_unique<RightScaler>(ScalerOptions{.init_scale = 1});  // which never grows in so few steps
  }
};

LABRIG_SUBMISSION(NoScaler)
