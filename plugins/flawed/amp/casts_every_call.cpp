// The mistake: parameters are cast where they are used, at each of the eight times, instead of once a step.
#include "correct.hpp"

using namespace flawed;

class CastsEveryCall : public Correct {
 protected:
  Tensor scores(const Network& n, const Tensor& x) const override {
    const Dtype low = x.dtype();
    const auto linear = [low](const Tensor& rows, const Tensor& weight, const Tensor& bias = {}) {
      return labrig::linear(rows, weight.to(low), bias.defined() ? bias.to(low) : bias);
    };
    Tensor h = labrig::tanh(linear(x[0], n.input, n.bias));
    for (std::int64_t t = 1; t < x.size(0); ++t) h = labrig::tanh(linear(x[t], n.input, n.bias) + linear(h, n.again));
    return linear(h, n.head, n.head_bias);
  }
};

LABRIG_SUBMISSION(CastsEveryCall)
