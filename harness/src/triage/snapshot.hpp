// A memory snapshot (torch.cuda.memory._snapshot() or our memory_snapshot(), as JSON), as far as triage asks: what each
// segment holds, who made the blocks, and the requests that failed.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "labrig/triage.hpp"

namespace labrig::triage {

struct SnapshotBlock {
  double bytes = 0;
  std::string state;  // "active_allocated", "active_awaiting_free", "inactive"
  std::string frame;  // the first that is not PyTorch's own: "train.py:42 forward"; "" without frames
};

struct SnapshotSegment {
  int device = 0;
  double bytes = 0;
  bool expandable = false;
  std::vector<SnapshotBlock> blocks;
};

struct SnapshotEvent {
  std::string action;  // "alloc", "free_requested", "segment_alloc", "oom", ...
  double bytes = 0;
  double free_bytes = 0;  // of the card, for "oom"
};

struct Snapshot {
  std::vector<SnapshotSegment> segments;
  std::vector<std::vector<SnapshotEvent>> events;  // by device
  std::string settings;
  std::vector<std::string> unread;
};

Diagnosis diagnose(const Snapshot& snapshot);

}  // namespace labrig::triage
