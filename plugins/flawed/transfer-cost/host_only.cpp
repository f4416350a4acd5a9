// The mistake: plain loops on the host; the card is never touched.
#include "correct.hpp"

using namespace flawed;

class HostOnly : public Correct {
 public:
  Tensor score(std::span<const Batch> batches, const Model& model, Device) override {
    std::vector<Tensor> scores;
    for (const Batch& b : batches) {
      Values x(b.features.data<float>().begin(), b.features.data<float>().end());
      const auto mask = b.mask.data<bool>();
      for (std::size_t i = 0; i < x.size(); ++i)
        if (mask[i]) x[i] = static_cast<float>(model.fill);
      x = product(x, model.expand);
      for (std::size_t i = 0; i < x.size(); ++i) x[i] += model.shift.data<float>()[i % model.shift.size(0)];
      x = product(relu(x), model.contract);
      for (int i = 0; i < model.depth; ++i) x = relu(product(x, model.step));
      x = product(x, model.head);
      const std::int64_t rows = b.features.size(0), classes = model.head.size(1);
      for (std::int64_t i = 0; i < rows * classes; ++i) x[i] += b.bias.data<float>()[i / classes];
      scores.push_back(labrig::tensor<float>(x, {rows, classes}));
    }
    return labrig::cat(scores);
  }

 private:
  using Values = std::vector<float>;

  static Values relu(Values x) {
    for (float& value : x) value = std::max(value, 0.0f);
    return x;
  }
  // [rows, k] x [k, n]
  static Values product(const Values& a, const Tensor& b) {
    const std::size_t k = b.size(0), n = b.size(1), rows = a.size() / k;
    const auto right = b.data<float>();
    Values out(rows * n);
    for (std::size_t r = 0; r < rows; ++r)
      for (std::size_t i = 0; i < k; ++i)
        for (std::size_t c = 0; c < n; ++c) out[r * n + c] += a[r * k + i] * right[i * n + c];
    return out;
  }
};

LABRIG_SUBMISSION(HostOnly)
