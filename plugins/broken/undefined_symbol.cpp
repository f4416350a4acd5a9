// Uses a function that nothing defines; linked without -z defs, so that only loading finds out.
#include "broken.hpp"

double helper(double factor);

class Helped : public broken::Scale {
 public:
  labrig::Tensor scale(const labrig::Tensor& x, double factor, labrig::Device device) override {
    return broken::Scale::scale(x, helper(factor), device);
  }
};

LABRIG_SUBMISSION(Helped)
