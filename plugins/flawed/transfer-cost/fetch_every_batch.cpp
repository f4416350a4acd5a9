// The mistake: every batch fetches its scores and looks at two of their statistics: the queue runs empty each time.
#include "correct.hpp"
#include "labrig/error.hpp"

using namespace flawed;

class FetchEveryBatch : public Correct {
 public:
  Tensor score(std::span<const Batch> batches, const Model& model, Device device) override {
    const Network network(model, device);
    std::vector<Tensor> scores;
    for (const Batch& b : batches) {
      const Tensor mine = network(b.features.to(device), b.mask.to(device), b.bias.to(device));
      const double best = labrig::max(mine).item(), usual = labrig::mean(mine).item();
      if (best != best || usual != usual)
        throw labrig::Error("nan", "a score is not a number", "the inputs hold a NaN", "look at the inputs");
      scores.push_back(mine.cpu());
    }
    return labrig::cat(scores);
  }
};

LABRIG_SUBMISSION(FetchEveryBatch)
