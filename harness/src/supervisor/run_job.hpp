// A whole run: every case of a job with its reference figures, several at a time, each costing at most itself.
#pragma once

#include <functional>

#include "grade/outcome.hpp"
#include "supervisor/job.hpp"

namespace labrig::supervisor {

// Called as cases end, from the threads that ran them, one call at a time. `index` is the place in the job.
using CaseEnded = std::function<void(std::size_t index, const grade::CaseOutcome& outcome)>;

// `cancelled`: a descriptor that becomes readable when the run is to be given up. Throws Error when the lab itself
// cannot be read.
void run_job(const Job& job, int cancelled, const CaseEnded& case_ended);

}  // namespace labrig::supervisor
