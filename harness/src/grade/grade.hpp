// The report of a run (`labrig.report/1`, docs/architecture.md §10): a pure function of the lab, what became of the
// cases and what was submitted. The caller adds `environment`. Everything else is a rendering of this.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>

#include "grade/outcome.hpp"
#include "labrig/error.hpp"
#include "spec/lab_spec.hpp"

namespace labrig::grade {

struct Submission {
  std::string name, hash;
  std::string source;  // "folder" or "plugin"
};

// Everything but `environment`.
nlohmann::ordered_json grade(const spec::LabSpec& spec, std::span<const CaseOutcome> cases,
                             const Submission& submission);

// The report of a submission that was refused before any of its code ran: it did not build, or the plugin is not one
// that may be loaded. Score 0, every check failed for this reason.
nlohmann::ordered_json grade_refused(const spec::LabSpec& spec, const Submission& submission, const Error& refusal);

}  // namespace labrig::grade
