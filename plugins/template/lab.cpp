// The lab `scale`: what a submission gets, how it is called, and when its answer is right.
#include "labrig/lab.hpp"

#include "interface.hpp"

using namespace labrig;

class ScaleLab {
 public:
  using Submission = scale::Submission;

  // In the supervisor, before the call. Everything random comes from `data`, so that the same seed gives the same case.
  void inputs(const lab::Scenario& scenario, lab::Random& data, lab::Values& in) {
    in.set("x", data.uniform_tensor({scenario.integer("rows"), scenario.integer("columns")}, -1, 1));
    in.set("factor", data.uniform(2, 3));
  }

  // In the worker, beside the submission.
  void call(lab::Call& call, Submission& submission) {
    const lab::Values& in = call.inputs();
    call.output("y", submission.scale(in.tensor("x"), in.real("factor"), call.device()));
  }

  // In the supervisor, after the call. The expected values are computed here, in float64, and never leave.
  void judge(const lab::Scenario&, const lab::Values& in, const lab::Values& out, lab::Verdict& verdict) {
    const Tensor expected = mul(in.tensor("x").to(kF64), in.real("factor"));
    verdict.require(lab::compare(out.tensor("y"), expected, 1e-5, 1e-6), "the scaled tensor");
  }
};

LABRIG_LAB(ScaleLab)
