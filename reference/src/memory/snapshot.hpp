// A picture of all segments and their blocks, and its form as JSON in the schema of torch.cuda.memory._snapshot(),
// which PyTorch's memory viewer reads.
#pragma once

#include <string>
#include <vector>

#include "labrig/export.hpp"
#include "memory/history.hpp"
#include "memory/settings.hpp"

namespace labrig {

struct MemorySnapshot {
  struct BlockInfo {
    std::uint64_t address = 0;
    std::size_t bytes = 0, requested_bytes = 0;
    bool allocated = false;
    bool active = false;  // allocated, or freed and awaiting events
  };
  struct Segment {
    std::uint64_t address = 0;
    std::size_t bytes = 0, allocated_bytes = 0, active_bytes = 0, requested_bytes = 0;
    std::uint16_t stream = 0;
    bool small = false, expandable = false;
    std::vector<BlockInfo> blocks;  // side by side
  };

  int device_index = 0;
  std::vector<Segment> segments;  // by address; an expandable one is there once for each mapped range
  std::vector<MemoryEvent> events;
  AllocatorSettings settings;
};

LABRIG_API std::string to_json(const MemorySnapshot& snapshot);

}  // namespace labrig
