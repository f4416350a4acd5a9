// Outcomes of cases for tests of the grader.
#pragma once

#include "grade/outcome.hpp"
#include "spec/lab_spec.hpp"
#include "spec/plan.hpp"
#include "spec_lab_text.hpp"

namespace labrig::test {

inline spec::LabSpec toy_lab() { return spec::parse_lab(kLabText, "lab.toml").value(); }

// Every case of the toy lab as the reference solution gives it.
inline std::vector<grade::CaseOutcome> perfect_cases(const spec::LabSpec& lab) {
  std::vector<grade::CaseOutcome> outcomes;
  for (const spec::Case& plan : spec::plan_cases(lab, {})) {
    grade::CaseOutcome outcome;
    outcome.plan = plan;
    outcome.status = grade::Status::ok;
    outcome.phase = grade::Phase::call;
    if (plan.kind == "score")
      outcome.metrics = {{"h2d_bytes", 1000}, {"h2d_copies", 3},     {"d2h_bytes", 100},
                         {"launches", 5},     {"device_flops", 100}, {"time_ps", 1000}};
    else
      outcome.findings["regret"] = {};
    outcome.reference = grade::Reference{outcome.metrics, {}, 5, nullptr};
    outcomes.push_back(outcome);
  }
  return outcomes;
}

inline void set_metric(grade::CaseOutcome& outcome, const std::string& name, std::int64_t value) {
  for (auto& [key, old] : outcome.metrics)
    if (key == name) old = value;
}

// A call that did not come back.
inline void end_case(grade::CaseOutcome& outcome, grade::Status status, const std::string& code,
                     const std::string& text) {
  outcome.status = status;
  outcome.reason = grade::Reason{code, text};
}

}  // namespace labrig::test
