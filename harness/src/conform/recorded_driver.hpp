// A driver that answers as the recorded one did. It walks along the recorded log of the allocator: a segment is there
// when the next thing that happened was that the driver gave one, and refused when it was not. So every address is the
// recorded one, and a card that was full is full again.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "memory/driver_memory.hpp"

namespace labrig::conform {

struct LogEvent {
  std::string action;  // segment_alloc, segment_free, segment_map, segment_unmap, alloc, free_requested, …, oom
  std::uint64_t address = 0, bytes = 0;
  std::uint64_t stream = 0;
};

// What both drivers below have in common: a large card with pages, whose work is always done; nothing was recorded of
// events.
class IdleCard : public DriverMemory {
 public:
  MemoryInfo memory_info() override { return {std::size_t{1} << 37, std::size_t{1} << 38}; }
  Event record_event(std::uint16_t) override { return 0; }
  bool event_is_done(Event) override { return true; }
  void wait_for_event(Event) override {}
  void release_event(Event) override {}
  bool has_pages() const override { return true; }
};

class RecordedDriver final : public IdleCard {
 public:
  explicit RecordedDriver(std::vector<LogEvent> log);

  void* malloc(std::size_t bytes) override;
  void free(void* memory) override;

  std::byte* reserve(std::size_t bytes) override;
  bool map(std::byte* address, std::size_t bytes) override;
  void unmap(std::byte* address, std::size_t bytes, std::uint16_t stream) override;

  // The recorded event of this kind that is due now, taken; null when something else is due.
  const LogEvent* take(const std::string& action);
  // The event that is due; null at the end.
  const LogEvent* due();
  // The first request that the recording does not have; empty when there was none.
  const std::string& problem() const { return problem_; }

 private:
  void take_from_run(const std::string& action, std::uint64_t address, std::uint64_t bytes);

  std::vector<LogEvent> log_;
  std::vector<bool> used_;  // events of a run are taken in any order
  std::size_t next_ = 0;
  std::string problem_;
};

// For a recording without log: addresses of its own, and room for everything that the recording does not call an
// out-of-memory error.
class UnrecordedDriver final : public IdleCard {
 public:
  bool full = false;

  void* malloc(std::size_t bytes) override;
  void free(void*) override {}
  std::byte* reserve(std::size_t bytes) override { return static_cast<std::byte*>(malloc(bytes)); }
  bool map(std::byte*, std::size_t) override { return !full; }

 private:
  std::uint64_t next_ = std::uint64_t{1} << 45;
};

}  // namespace labrig::conform
