// `labrig check --debug`: cases one after another in one process, the card as a thread beside the student's code, so
// that a debugger shows everything. Nothing is protected and nothing is graded here; metrics are those of a graded run.
#pragma once

#include <filesystem>

namespace labrig::worker {

// `job_file` holds a supervisor::Job as JSON. Prints a line a case; with `json` the outcome of each case as a JSON
// line. Returns 0 when every case was ok.
int debug(const std::filesystem::path& job_file, bool json);

}  // namespace labrig::worker
