// The mistake: the rows of a batch are moved one at a time: the same bytes in many small copies.
#include "correct.hpp"

using namespace flawed;

class RowByRow : public Correct {
 public:
  Tensor score(std::span<const Batch> batches, const Model& model, Device device) override {
    const Network network(model, device);
    std::vector<Tensor> scores;
    for (const Batch& b : batches)
      scores.push_back(network(move_rows(b.features, device), move_rows(b.mask, device), b.bias.to(device)));
    return labrig::cat(scores).cpu();
  }

 private:
  static Tensor move_rows(const Tensor& host, Device device) {
    const Tensor moved = labrig::empty(host.sizes(), {host.dtype(), device});
    for (std::int64_t row = 0; row < host.size(0); ++row) moved[row].copy_(host[row]);
    return moved;
  }
};

LABRIG_SUBMISSION(RowByRow)
