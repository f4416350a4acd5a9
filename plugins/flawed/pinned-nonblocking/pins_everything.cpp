// The mistake: pinned memory is taken for free. Every chunk gets a pinned buffer of its own, every plan pins all.
#include "correct.hpp"

using namespace flawed;

class PinsEverything : public Correct {
 public:
  std::vector<bool> staging_plan(std::span<const Transfer> transfers, const Rates&, std::size_t) override {
    return std::vector<bool>(transfers.size(), true);
  }

 protected:
  std::int64_t buffer_count(const Source& source) const override { return source.chunks(); }
};

LABRIG_SUBMISSION(PinsEverything)
