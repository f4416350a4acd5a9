// Odd answers: of another shape, or (LABRIG_ODD_TYPE) of another type, than the lab asks for. A judge calls them wrong.
#include "interface.hpp"

using labrig::Tensor;
using namespace pinned_nonblocking;

class Odd : public Submission {
 public:
  Tensor pipeline(Source& source, const Work&, labrig::Device, std::size_t) override {
    return LABRIG_ODD_TYPE ? labrig::zeros({source.chunks(), source.chunk_sizes()[1]}, labrig::kI64)
                           : labrig::zeros({0, 3});
  }
  void fetch(std::span<const Tensor>, std::span<const Tensor>) override {}
  std::vector<bool> staging_plan(std::span<const Transfer> transfers, const Rates&, std::size_t) override {
    return std::vector<bool>(LABRIG_ODD_TYPE ? transfers.size() + 1 : 0);
  }
};

LABRIG_SUBMISSION(Odd)
