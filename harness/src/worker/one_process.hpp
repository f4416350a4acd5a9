// A whole case in one process: the lab's two modules, the submission, and the card as a thread. Nothing is protected.
#pragma once

#include <filesystem>

#include "grade/outcome.hpp"
#include "spec/lab_spec.hpp"
#include "spec/plan.hpp"

namespace labrig::worker {

// Only what the submission does wrong is in the outcome: the lab's own errors fly through. On a real card it has
// neither metrics nor hazards, only whether the values are right.
grade::CaseOutcome run_in_this_process(const spec::LabSpec& lab, const std::filesystem::path& plugin,
                                       const spec::Case& plan);

}  // namespace labrig::worker
