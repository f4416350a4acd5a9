// `labrig check --device cuda:0`: the values of a submission on a real card. Evidence without points: a real card
// counts nothing, so that only the judge's word on the values is asked for. Scenarios that a real card cannot pose are
// skipped, with the reason.
#pragma once

#include <filesystem>
#include <string>

namespace labrig::worker {

// `job_file` holds a supervisor::Job as JSON. Prints a line a case and a sum; with `json` one object
// {device, cases: [{id, status: right|wrong|skipped, code, text}], right, wrong, skipped}. Returns 0 when all values
// were right, 1 when some were not, 4 when there is no such device or no case could be run there.
int values_on(const std::filesystem::path& job_file, const std::string& device, bool json);

}  // namespace labrig::worker
