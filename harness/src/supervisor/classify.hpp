// What the end of a worker means: status, phase and reason, told apart so that a student reads what happened. Pure.
#pragma once

#include <optional>

#include "backends/sim/machine.hpp"
#include "grade/outcome.hpp"
#include "spec/lab_spec.hpp"
#include "supervisor/worker_run.hpp"

namespace labrig::supervisor {

struct Ending {
  grade::Status status = grade::Status::ok;  // ok: the call came back; the judge has yet to look at the values
  grade::Phase phase = grade::Phase::call;
  std::optional<grade::Reason> reason;
};

// `has_card`: there was one; then no `report` means that the card died.
Ending classify(const WorkerRun& run, bool has_card, const std::optional<sim::Report>& report,
                const spec::Limits& limits);

}  // namespace labrig::supervisor
