// Lab 02, pinned-nonblocking: your submission. Fill in the three functions; interface.hpp says what each must do.
//
//   labrig check .            builds this folder and grades the visible cases, in seconds
//   labrig check . --task 1   only what belongs to one task
#include "interface.hpp"
#include "labrig/error.hpp"

using labrig::Device;
using labrig::Tensor;
using namespace pinned_nonblocking;

class MySubmission : public Submission {
 public:
  // Task 1
  Tensor pipeline(Source& /*source*/, const Work& /*work*/, Device /*device*/,
                  std::size_t /*pinned_budget_bytes*/) override {
    throw labrig::Error("not-written-yet", "pipeline() is not written yet", "the starter leaves task 1 to you",
                        "write pipeline() in submission.cpp; start with one buffer and plain copies, and make the "
                        "values right before you make it fast");
  }

  // Task 2
  void fetch(std::span<const Tensor> /*results*/, std::span<const Tensor> /*buffers*/) override {
    throw labrig::Error("not-written-yet", "fetch() is not written yet", "the starter leaves task 2 to you",
                        "write fetch() in submission.cpp; see Tensor::copy_ in labrig/tensor.hpp");
  }

  // Task 3
  std::vector<bool> staging_plan(std::span<const Transfer> /*transfers*/, const Rates& /*rates*/,
                                 std::size_t /*budget_bytes*/) override {
    throw labrig::Error("not-written-yet", "staging_plan() is not written yet", "the starter leaves task 3 to you",
                        "write staging_plan() in submission.cpp; work out what pinning each buffer saves");
  }
};

LABRIG_SUBMISSION(MySubmission)
