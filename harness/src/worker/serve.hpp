// The worker's side of one case: load, set up, call, report, end (../channel/frame.hpp shows the conversation). Runs
// the submission's code, so nothing that decides a grade is known here.
#pragma once

namespace labrig::worker {

// Serves the one case that the supervisor describes on channel::kDescriptor. Returns the exit code: 0 when the case was
// reported to its end, whatever became of it.
int serve();

}  // namespace labrig::worker
