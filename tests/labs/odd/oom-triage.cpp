// Odd answers: of another shape, or (LABRIG_ODD_TYPE) of another type, than the lab asks for. A judge calls them wrong.
#include <limits>

#include "interface.hpp"

using labrig::Tensor;
using namespace oom_triage;

class Odd : public Submission {
 public:
  Diagnosis diagnose(const labrig::MemoryHistory&) override {
    return {static_cast<labrig::MemoryCause>(200), {-5, std::numeric_limits<std::int64_t>::max()}};
  }
  Tensor train(Job& job, labrig::Device) override {
    return LABRIG_ODD_TYPE ? labrig::zeros({job.steps()}, labrig::kI64) : labrig::zeros({0, 3});
  }
  std::int64_t largest_batch(const ModelShape&, Optimizer, labrig::Dtype, std::size_t) override {
    return LABRIG_ODD_TYPE ? std::numeric_limits<std::int64_t>::min() : std::numeric_limits<std::int64_t>::max();
  }
};

LABRIG_SUBMISSION(Odd)
