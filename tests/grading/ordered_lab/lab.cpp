// The lab `two-streams` of the grading tests: a result that is right in the order of issue, and a check that only an
// answer whose order is its own doing passes.
#include "labrig/lab.hpp"

#include "interface.hpp"

using namespace labrig;

class TwoStreamsLab {
 public:
  using Submission = two_streams::Submission;

  void inputs(const lab::Scenario& scenario, lab::Random& data, lab::Values& in) {
    in.set("x", data.uniform_tensor({scenario.integer("count")}, -1, 1));
  }
  void call(lab::Call& call, Submission& submission) {
    call.output("y", submission.twice(call.inputs().tensor("x"), call.device()));
  }
  void judge(const lab::Scenario&, const lab::Values& in, const lab::Values& out, lab::Verdict& verdict) {
    verdict.require(lab::compare(out.tensor("y"), mul(in.tensor("x").to(kF64), 2.0), 1e-6, 1e-6), "twice x");
  }
};

LABRIG_LAB(TwoStreamsLab)
