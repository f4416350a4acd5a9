// The reference solution of the tests' lab.
#include "interface.hpp"

namespace {

class Solution : public plus_one::Submission {
 public:
  labrig::Tensor plus_one(const labrig::Tensor& x, labrig::Device device) override {
    return labrig::add(x.to(device), 1.0).cpu();
  }
};

}  // namespace

LABRIG_SUBMISSION(Solution)
