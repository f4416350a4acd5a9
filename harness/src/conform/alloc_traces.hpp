// Recorded runs of PyTorch's caching allocator against ours: each is replayed with the recorded segment addresses
// coming from a fake driver, and every statistic after every operation and every block address must come out equal.
//
//   {"keys": ["allocated_bytes.all.current", …],        the statistics that were recorded
//    "traces": [{"ops":   [["alloc", id, bytes, stream], ["oom", id, bytes, stream] (the request failed), ["free", id],
//                          ["record_stream", id, stream], ["empty_cache"], ["reset_peak"], ["reset_accumulated"]],
//                "stats": [[…] after ops[0], …],         in the order of `keys`
//                "base":  […],                           the statistics before ops[0]; default 0
//                "cap_bytes": 1073741824 or null,        the limit of the process
//                "settings": "max_split_size_mb:32",     PyTorch's settings string
//                "log": [["segment_alloc", address, bytes, stream], …]}]}
//
// All but ops and stats may be missing; without `log` addresses are not compared. Other keys are ignored, and named.
// Read next: recorded_driver.hpp.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "conform/json_file.hpp"

namespace labrig::conform {

struct Difference {
  std::string trace;      // "trace 3 (kind edge, seed 3)"
  std::size_t operation;  // its index in `ops`
  std::string operation_text;
  std::string key;  // a statistic, "address", "outcome", "driver"
  std::string expected, got;
};

struct AllocTracesResult {
  std::size_t traces = 0, exact = 0;
  std::size_t without_log = 0;             // traces whose addresses could not be compared
  std::size_t operations = 0;              // carried out
  std::size_t figures = 0, addresses = 0;  // compared
  std::optional<Difference> first;         // of the first trace that is not exact
  std::vector<std::string> ignored;        // keys of the file, and statistics, that nobody here knows
};

// Fails with `bad-file` when the document is not of this form.
Result<AllocTracesResult> conform_alloc_traces(const JsonFile& file);

}  // namespace labrig::conform
