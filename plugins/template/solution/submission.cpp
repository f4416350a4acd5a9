// The reference solution of the lab `scale`: up once, multiply there, down once.
#include "interface.hpp"

class Solution : public scale::Submission {
 public:
  labrig::Tensor scale(const labrig::Tensor& x, double factor, labrig::Device device) override {
    return labrig::mul(x.to(device), factor).cpu();
  }
};

LABRIG_SUBMISSION(Solution)
