// The mistake: the whole model is converted, as by .half(): parameters, scores, loss and gradients are 16-bit numbers.
#include "correct.hpp"

using namespace flawed;

class EverythingHalf : public Correct {
 public:
  std::optional<Dtype> precision_of(std::string_view, Dtype low, Dtype, Dtype) override { return low; }

 protected:
  Tensor master(const Tensor& start, Dtype low) const override { return start.to(low).requires_grad_(); }
  Tensor loss_of(const Tensor& scores, const Tensor& target) const override {
    return labrig::cross_entropy(scores, target);
  }
};

LABRIG_SUBMISSION(EverythingHalf)
