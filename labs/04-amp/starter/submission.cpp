// Lab 04, amp: your submission. Fill in the three functions; interface.hpp says what each must return.
//
//   labrig check .            builds this folder and grades the visible cases, in seconds
//   labrig check . --task 1   only what belongs to one task
#include "interface.hpp"
#include "labrig/error.hpp"

using labrig::Device;
using labrig::Dtype;
using namespace amp_lab;

class MySubmission : public Submission {
 public:
  // Task 1
  std::optional<Dtype> precision_of(std::string_view /*op*/, Dtype /*low*/, Dtype /*a*/, Dtype /*b*/) override {
    throw labrig::Error("not-written-yet", "precision_of() is not written yet", "the starter leaves task 1 to you",
                        "write precision_of() in submission.cpp; the table of the handout has all operators");
  }

  // Task 2
  std::unique_ptr<Scaler> make_scaler(const ScalerOptions& /*options*/) override {
    throw labrig::Error("not-written-yet", "make_scaler() is not written yet", "the starter leaves task 2 to you",
                        "derive a class from Scaler in submission.cpp, and return one of it with these options");
  }

  // Task 3
  Trained train(const Job& /*job*/, Device /*device*/) override {
    throw labrig::Error("not-written-yet", "train() is not written yet", "the starter leaves task 3 to you",
                        "write train() in submission.cpp; start in f32, then cast, then scale the loss");
  }
};

LABRIG_SUBMISSION(MySubmission)
