// Lab 05, device-mismatch: your submission. Fill in the three functions; interface.hpp says what each must return.
//
//   labrig check .            builds this folder and grades the visible cases, in seconds
//   labrig check . --task 1   only what belongs to one task
#include "interface.hpp"
#include "labrig/error.hpp"
#include "labrig/io.hpp"
#include "labrig/nn.hpp"
#include "labrig/optim.hpp"

using labrig::Device;
using labrig::Tensor;
using namespace device_mismatch;

// Task 1: the model of interface.hpp. What is registered moves with the model and is part of its state.
struct Net : labrig::nn::Module {
  // labrig::nn::Linear hidden, out;
};

class MySubmission : public Submission {
 public:
  // Task 1
  Trained train(const Recipe& /*recipe*/, Device /*device*/) override {
    throw labrig::Error("not-written-yet", "train() is not written yet", "the starter leaves task 1 to you",
                        "write the model and train() in submission.cpp; make it right on the CPU first");
  }

  // Task 2
  Loaded load(const std::string& /*path*/, Device /*device*/, const Wanted& /*wanted*/) override {
    throw labrig::Error("not-written-yet", "load() is not written yet", "the starter leaves task 2 to you",
                        "write load() in submission.cpp; labrig/io.hpp says what io::load takes besides the path");
  }

  // Task 3
  std::vector<std::string> culprit(const Program& /*program*/) override {
    throw labrig::Error("not-written-yet", "culprit() is not written yet", "the starter leaves task 3 to you",
                        "write culprit() in submission.cpp; begin at the operands, and go upwards");
  }
};

LABRIG_SUBMISSION(MySubmission)
