// The mistake: errors are kept for a report at the end, and each owns the tensors of its try.
#include <exception>
#include <utility>

#include "correct.hpp"

using namespace flawed;

class StepFailed : public labrig::OutOfMemoryError {
 public:
  StepFailed(const labrig::OutOfMemoryError& error, Tensor input, Tensor hidden)
      : OutOfMemoryError(error.facts()), input_(std::move(input)), hidden_(std::move(hidden)) {}

 private:
  Tensor input_, hidden_;
};

class HoldsTheException : public Correct {
  Tensor output_of(labrig::nn::Sequential& model, const Tensor& x) override {
    const Tensor hidden = model[0](x);
    try {
      Tensor output = hidden;
      for (std::size_t i = 1; i < model.size(); ++i) output = model[i](output);
      return output;
    } catch (const labrig::OutOfMemoryError& error) {
      throw StepFailed(error, x, hidden);
    }
  }
  void in_the_handler() override { failures_.push_back(std::current_exception()); }
  std::vector<std::exception_ptr> failures_;
};

LABRIG_SUBMISSION(HoldsTheException)
