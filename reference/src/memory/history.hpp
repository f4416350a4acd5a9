// The last events of an allocator, for the snapshot. A ring: when it is full, the newest event takes the place of the
// oldest. Recording costs one comparison while it is off.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace labrig {

enum class MemoryAction : std::uint8_t {
  alloc,
  free_requested,
  free_completed,
  segment_alloc,
  segment_free,
  segment_map,
  segment_unmap,
  snapshot,
  oom,
};

struct MemoryEvent {
  MemoryAction action{};
  std::uint64_t address = 0;  // for `oom`: the free bytes of the card
  std::uint64_t bytes = 0;    // of a tensor: what it asked for; of a segment or page: what the driver gave
  std::uint16_t stream = 0;
  std::uint64_t number = 0;  // 0, 1, 2, … since recording began
};

class AllocatorHistory {
 public:
  // Starts again with room for so many; 0 switches recording off.
  void start(std::size_t max_entries) {
    events_.clear();
    next_number_ = 0;
    room_ = max_entries;
  }
  bool is_on() const { return room_ > 0; }
  void record(MemoryAction action, std::uint64_t address, std::uint64_t bytes, std::uint16_t stream) {
    if (room_ == 0) return;
    const MemoryEvent event{action, address, bytes, stream, next_number_};
    if (events_.size() < room_) {
      events_.push_back(event);
    } else {
      events_[next_number_ % room_] = event;
    }
    ++next_number_;
  }
  // The oldest first.
  std::vector<MemoryEvent> events() const {
    std::vector<MemoryEvent> ordered = events_;
    if (events_.size() == room_ && room_ > 0) {
      for (std::size_t i = 0; i < room_; ++i) ordered[i] = events_[(next_number_ + i) % room_];
    }
    return ordered;
  }

 private:
  std::vector<MemoryEvent> events_;
  std::size_t room_ = 0;
  std::uint64_t next_number_ = 0;
};

}  // namespace labrig
