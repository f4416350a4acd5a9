// labrig's side of a run: starts labrig-supervisor, gives it the job, collects the outcomes. A supervisor that dies
// costs one more try; what is then still open is a fault of ours.
#pragma once

#include <filesystem>
#include <functional>
#include <vector>

#include "grade/outcome.hpp"
#include "supervisor/job.hpp"

namespace labrig::supervisor {

struct RunResult {
  std::vector<grade::CaseOutcome> outcomes;  // in the order of the job
  bool interrupted = false;                  // Ctrl-C: everything was killed
};

// `progress(done, total)` is called as cases end, and after it `case_ended` with the case's place in the job. Throws
// what the supervisor could not do at all.
RunResult run_supervised(const Job& job, const std::function<void(std::size_t, std::size_t)>& progress,
                         const std::function<void(std::size_t, const grade::CaseOutcome&)>& case_ended = {});

}  // namespace labrig::supervisor
