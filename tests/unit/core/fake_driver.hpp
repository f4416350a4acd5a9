// A driver for the caching allocator with a capacity and addresses of its own choice; the memory behind them does not
// exist. Its events are done when the test says so, and its pages are counted.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "memory/driver_memory.hpp"

namespace labrig::test {

class FakeDriver : public DriverMemory {
 public:
  explicit FakeDriver(std::size_t capacity = std::size_t{1} << 40) : capacity_(capacity) {}

  void* malloc(std::size_t bytes) override {
    if (refuses || !fits(bytes)) return nullptr;
    used_ += bytes;
    const std::uintptr_t address = next_;
    next_ += bytes + (std::size_t{1} << 30);
    segments_[address] = bytes;
    return reinterpret_cast<void*>(address);
  }
  void free(void* memory) override {
    const auto found = segments_.find(reinterpret_cast<std::uintptr_t>(memory));
    used_ -= found->second;
    segments_.erase(found);
  }
  MemoryInfo memory_info() override { return {capacity_ - used_ - others_bytes(), capacity_}; }
  std::vector<ProcessMemory> processes() override {
    std::vector<ProcessMemory> result = others;
    result.push_back({0, used_, true});
    return result;
  }

  Event record_event(std::uint16_t stream) override {
    recorded.emplace_back(next_event_, stream);
    return next_event_++;
  }
  bool event_is_done(Event event) override { return done.contains(event); }
  void wait_for_event(Event event) override { waited.push_back(event); }
  void release_event(Event event) override { released.push_back(event); }

  bool has_pages() const override { return offers_pages; }
  std::byte* reserve(std::size_t bytes) override {
    if (ranges_.size() == most_ranges) return nullptr;
    const std::uintptr_t address = next_;
    next_ += bytes + (std::size_t{1} << 30);
    ranges_[address] = bytes;
    return reinterpret_cast<std::byte*>(address);
  }
  void give_back(std::byte* address, std::size_t) override { ranges_.erase(reinterpret_cast<std::uintptr_t>(address)); }
  bool map(std::byte*, std::size_t bytes) override {
    if (!fits(bytes)) return false;
    used_ += bytes;
    return true;
  }
  void unmap(std::byte*, std::size_t bytes, std::uint16_t) override { used_ -= bytes; }

  std::size_t segments() const { return segments_.size(); }
  std::size_t ranges() const { return ranges_.size(); }
  std::size_t used_bytes() const { return used_; }

  bool refuses = false;  // whatever is free
  bool offers_pages = false;
  std::size_t most_ranges = SIZE_MAX;
  std::vector<ProcessMemory> others;                      // that hold memory of this card
  std::vector<std::pair<Event, std::uint16_t>> recorded;  // event, stream
  std::set<Event> done;
  std::vector<Event> waited, released;

 private:
  std::size_t others_bytes() const {
    std::size_t sum = 0;
    for (const ProcessMemory& process : others) sum += process.bytes;
    return sum;
  }
  bool fits(std::size_t bytes) const { return bytes <= capacity_ - used_ - others_bytes(); }

  std::size_t capacity_, used_ = 0;
  std::uintptr_t next_ = std::uintptr_t{1} << 40;
  Event next_event_ = 1;
  std::map<std::uintptr_t, std::size_t> segments_, ranges_;
};

}  // namespace labrig::test
