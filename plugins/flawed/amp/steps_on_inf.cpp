// The mistake: the optimizer steps whatever the gradients are; the scale is lowered afterwards, which is too late.
#include "correct.hpp"

using namespace flawed;

class Careless : public RightScaler {
 public:
  using RightScaler::RightScaler;
  bool step(Optimizer& optimizer) override {
    if (!good_.contains(&optimizer)) unscale(optimizer);
    optimizer.step();
    return true;
  }
};

class StepsOnInf : public Correct {
 public:
  std::unique_ptr<Scaler> make_scaler(const ScalerOptions& options) override {
    return std::make_unique<Careless>(options);
  }

 protected:
  std::unique_ptr<Scaler> scaler() override { return make_scaler({}); }
};

LABRIG_SUBMISSION(StepsOnInf)
