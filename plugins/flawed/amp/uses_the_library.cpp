// The mistake: the scaler is the library's own, which this lab forbids.
#include "correct.hpp"
#include "labrig/amp.hpp"

using namespace flawed;

class Wrapped : public Scaler {
 public:
  explicit Wrapped(const ScalerOptions& o)
      : scaler_({o.init_scale, o.growth_factor, o.backoff_factor, o.growth_interval, true}) {}
  Tensor scale(const Tensor& loss) override { return scaler_.scale(loss); }
  void unscale(Optimizer& optimizer) override { scaler_.unscale_(optimizer); }
  bool step(Optimizer& optimizer) override { return scaler_.step(optimizer); }
  void update() override { scaler_.update(); }
  ScalerState state() const override {
    return {
        {scaler_.get_scale(), scaler_.get_growth_factor(), scaler_.get_backoff_factor(), scaler_.get_growth_interval()},
        scaler_.get_scale(),
        scaler_.get_growth_tracker()};
  }
  void load(const ScalerState& s) override {
    scaler_.load_state_dict({{"scale", s.scale},
                             {"growth_factor", s.options.growth_factor},
                             {"backoff_factor", s.options.backoff_factor},
                             {"growth_interval", static_cast<double>(s.options.growth_interval)},
                             {"_growth_tracker", static_cast<double>(s.growth_tracker)}});
  }

 private:
  labrig::amp::GradScaler scaler_;
};

class UsesTheLibrary : public Correct {
 public:
  std::unique_ptr<Scaler> make_scaler(const ScalerOptions& options) override {
    return std::make_unique<Wrapped>(options);
  }
};

LABRIG_SUBMISSION(UsesTheLibrary)
