// Lab 01, transfer-cost: your submission. Fill in the three functions; interface.hpp says what each must return.
//
//   labrig check .            builds this folder and grades the visible cases, in seconds
//   labrig check . --task 1   only what belongs to one task
#include "interface.hpp"
#include "labrig/error.hpp"

using labrig::Device;
using labrig::Dims;
using labrig::Tensor;
using transfer_cost::Batch;
using transfer_cost::Machine;
using transfer_cost::Model;
using transfer_cost::Work;

class MySubmission : public transfer_cost::Submission {
 public:
  // Task 1
  Tensor score(std::span<const Batch> /*batches*/, const Model& /*model*/, Device /*device*/) override {
    throw labrig::Error("not-written-yet", "score() is not written yet", "the starter leaves task 1 to you",
                        "write score() in submission.cpp; start with one batch, and move the model before the loop");
  }

  // Task 2
  Tensor constant(const Dims& /*shape*/, double /*value*/, Device /*device*/) override {
    throw labrig::Error(
        "not-written-yet", "constant() is not written yet", "the starter leaves task 2 to you",
        "write constant() in submission.cpp; see the creation functions at the end of labrig/tensor.hpp");
  }

  // Task 3
  bool worth_moving(const Work& /*work*/, const Machine& /*machine*/) override {
    throw labrig::Error("not-written-yet", "worth_moving() is not written yet", "the starter leaves task 3 to you",
                        "write worth_moving() in submission.cpp; estimate the time on each side and compare");
  }
};

LABRIG_SUBMISSION(MySubmission)
