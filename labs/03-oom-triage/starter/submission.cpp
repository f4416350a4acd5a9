// Lab 03, oom-triage: your submission. Fill in the three functions; interface.hpp says what each must return.
//
//   labrig check .            builds this folder and grades the visible cases, in seconds
//   labrig check . --task 1   only what belongs to one task
#include "interface.hpp"
#include "labrig/error.hpp"

using labrig::Device;
using labrig::Tensor;
using oom_triage::Diagnosis;
using oom_triage::Job;
using oom_triage::ModelShape;
using oom_triage::Optimizer;

class MySubmission : public oom_triage::Submission {
 public:
  // Task 1
  Diagnosis diagnose(const labrig::MemoryHistory& /*history*/) override {
    throw labrig::Error("not-written-yet", "diagnose() is not written yet", "the starter leaves task 1 to you",
                        "write diagnose() in submission.cpp; start with the cause whose sign is surest");
  }

  // Task 2
  Tensor train(Job& /*job*/, Device /*device*/) override {
    throw labrig::Error("not-written-yet", "train() is not written yet", "the starter leaves task 2 to you",
                        "write train() in submission.cpp; start with all samples at once, then with micro-batches");
  }

  // Task 3
  std::int64_t largest_batch(const ModelShape& /*model*/, Optimizer /*optimizer*/, labrig::Dtype /*precision*/,
                             std::size_t /*capacity_bytes*/) override {
    throw labrig::Error("not-written-yet", "largest_batch() is not written yet", "the starter leaves task 3 to you",
                        "write largest_batch() in submission.cpp; count what does not depend on the batch first");
  }
};

LABRIG_SUBMISSION(MySubmission)
