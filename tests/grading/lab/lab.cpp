// The lab `plus-one` of the grading tests: one case on a card, one on the host, so that a submission can misbehave in
// one of them and the other must not notice.
#include "labrig/lab.hpp"

#include "interface.hpp"

using namespace labrig;

class PlusOneLab {
 public:
  using Submission = plus_one::Submission;

  void inputs(const lab::Scenario& scenario, lab::Random& data, lab::Values& in) {
    in.set("x", data.uniform_tensor({scenario.integer("count")}, -1, 1));
  }
  void call(lab::Call& call, Submission& submission) {
    call.output("y", submission.plus_one(call.inputs().tensor("x"), call.device()));
  }
  void judge(const lab::Scenario&, const lab::Values& in, const lab::Values& out, lab::Verdict& verdict) {
    verdict.require(lab::compare(out.tensor("y"), add(in.tensor("x").to(kF64), 1.0), 1e-6, 1e-6), "x plus one");
  }
};

LABRIG_LAB(PlusOneLab)
