// The mistake: the whole model is converted, as by .half(): parameters, scores, loss and gradients are 16-bit numbers.
// It trains without a scaler: the factor 65536 is no f16 number.
#include "correct.hpp"

using namespace flawed;

class EverythingHalf : public Correct {
 public:
  std::optional<Dtype> precision_of(std::string_view, Dtype low, Dtype, Dtype) override { return low; }

 protected:
  std::unique_ptr<Scaler> scaler() override { return std::make_unique<RightScaler>(ScalerOptions{.init_scale = 1}); }
  Tensor master(const Tensor& start, Dtype low) const override { return start.to(low).requires_grad_(); }
  Tensor loss_of(const Tensor& scores, const Tensor& target) const override {
    return labrig::cross_entropy(scores, target);
  }
};

LABRIG_SUBMISSION(EverythingHalf)
