// The mistake: softmax stays in the type of its input.
#include "correct.hpp"

using namespace flawed;

class SoftmaxInHalf : public Correct {
 public:
  std::optional<Dtype> precision_of(std::string_view op, Dtype low, Dtype a, Dtype b) override {
    if (op == "softmax" || op == "log_softmax") return a;
    return Correct::precision_of(op, low, a, b);
  }
};

LABRIG_SUBMISSION(SoftmaxInHalf)
