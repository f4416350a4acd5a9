// Odd answers: of another shape, or (LABRIG_ODD_TYPE) of another type, than the lab asks for. A judge calls them wrong.
#include <limits>

#include "interface.hpp"

using labrig::Tensor;
using namespace amp_lab;

class OddScaler : public Scaler {
 public:
  Tensor scale(const Tensor& loss) override { return loss; }
  void unscale(labrig::optim::Optimizer&) override {}
  bool step(labrig::optim::Optimizer&) override { return false; }
  void update() override {}
  ScalerState state() const override { return {{}, std::numeric_limits<double>::quiet_NaN(), -1}; }
  void load(const ScalerState&) override {}
};

class Odd : public Submission {
 public:
  std::optional<labrig::Dtype> precision_of(std::string_view, labrig::Dtype, labrig::Dtype, labrig::Dtype) override {
    return static_cast<labrig::Dtype>(99);
  }
  std::unique_ptr<Scaler> make_scaler(const ScalerOptions&) override { return std::make_unique<OddScaler>(); }
  Trained train(const Job& job, labrig::Device) override {
    const auto odd = [](const Tensor& right) {
      return LABRIG_ODD_TYPE ? labrig::zeros(right.sizes(), labrig::kI64) : labrig::zeros({7, 3, 2});
    };
    const Network& n = job.start;
    return {odd(labrig::zeros({job.steps})), {odd(n.input), odd(n.bias), odd(n.again), odd(n.head), odd(n.head_bias)}};
  }
};

LABRIG_SUBMISSION(Odd)
