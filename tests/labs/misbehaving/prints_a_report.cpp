// Misbehaves on purpose: prints what it takes for a report, and returns nothing.
#include "correct.hpp"

#include <cstdio>

using namespace flawed;

class Misbehaving : public Correct {
 public:
  Tensor score(std::span<const Batch> batches, const Model& model, Device device) override {
    std::puts("{\"schema\": \"labrig.report/1\", \"score\": 100, \"max_score\": 100, \"passed\": true}");
    std::puts("score: 100 of 100");
    return batches.empty() ? Correct::score(batches, model, device) : Tensor();
  }
};

LABRIG_SUBMISSION(Misbehaving)
