// One call of a submission and what it left behind, the same in a worker and in `labrig check --debug`. The order
// matters: host results are copied as they stand when the call returns, then the clock stops, then device results are
// read.
#pragma once

#include "labrig/lab.hpp"

namespace labrig::worker {

// Every output of the call, on the host. Whatever the submission throws flies through.
lab::Values call_submission(lab::CallModule& module, void* submission, const lab::Values& inputs, Device device);

}  // namespace labrig::worker
