// The mistake: step() divides by the scale although unscale() has done so.
#include "correct.hpp"

using namespace flawed;

class Twice : public RightScaler {
 public:
  using RightScaler::RightScaler;
  bool step(Optimizer& optimizer) override {
    unscale(optimizer);
    return RightScaler::step(optimizer);
  }
};

class UnscalesTwice : public Correct {
 public:
  std::unique_ptr<Scaler> make_scaler(const ScalerOptions& options) override {
    return std::make_unique<Twice>(options);
  }
};

LABRIG_SUBMISSION(UnscalesTwice)
