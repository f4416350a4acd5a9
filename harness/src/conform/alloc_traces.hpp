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

#include "conform/kinds.hpp"

namespace labrig::conform {

// One entry a trace; the device takes no part. Throws `bad-file` when the document is not of this form.
Outcome alloc_traces(const JsonFile& file, Device device);

}  // namespace labrig::conform
