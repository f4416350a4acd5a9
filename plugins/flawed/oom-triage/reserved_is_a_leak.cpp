// The mistake: reserved far above allocated is taken for a leak, although it is the allocator's cache.
#include "correct.hpp"

using namespace flawed;

class ReservedIsALeak : public Correct {
 public:
  Diagnosis diagnose(const MemoryHistory& history) override {
    const HistoryRow& last = history.rows.back();
    if (last.reserved_bytes < 2 * last.allocated_bytes) return Correct::diagnose(history);
    return {MemoryCause::losses_keep_graph, {0, static_cast<std::int64_t>(history.rows.size()) - 1}};
  }
};

LABRIG_SUBMISSION(ReservedIsALeak)
