// Cards for the allocator of pinned memory, as far as it sees them: addresses of their own choice without memory behind
// them, events that are reached when the test says so, and a clock that moves by a fixed step a look.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "memory/host_allocator.hpp"

namespace labrig::test {

class FakeHostDriver final : public HostDriver {
 public:
  explicit FakeHostDriver(std::size_t the_limit = std::size_t{1} << 40) : limit(the_limit) {}

  void* malloc(std::size_t bytes) override {
    if (bytes > limit - used) return nullptr;
    used += bytes;
    const std::uintptr_t address = next_;
    next_ += bytes + (std::size_t{1} << 30);
    pieces[address] = bytes;
    return reinterpret_cast<void*>(address);
  }
  void free(void* memory) override {
    const auto found = pieces.find(reinterpret_cast<std::uintptr_t>(memory));
    used -= found->second;
    pieces.erase(found);
  }
  std::size_t limit_bytes() override { return limit; }
  void note_alloc(void*, std::size_t requested, std::size_t block_bytes, std::string_view name) override {
    notes.push_back(std::string(name) + " " + std::to_string(requested) + " of " + std::to_string(block_bytes));
  }
  void note_free(void*) override { notes.emplace_back("free"); }
  std::uint32_t record_event(HostStream stream) override {
    recorded.push_back(stream);
    events.insert(++last_event);
    return last_event;
  }
  bool query_event(int, std::uint32_t event) override {
    ++queries;
    return reached.contains(event);
  }
  void destroy_event(int, std::uint32_t event) override { events.erase(event); }
  std::int64_t clock_ns() override { return clock += step_ns; }

  std::int64_t held() const { return static_cast<std::int64_t>(used); }

  std::size_t limit, used = 0;
  std::map<std::uintptr_t, std::size_t> pieces;  // held from the driver
  std::vector<std::string> notes;
  std::vector<HostStream> recorded;
  std::set<std::uint32_t> events, reached;  // alive; reached by their streams
  std::uint32_t last_event = 0;
  int queries = 0;
  std::int64_t clock = 0, step_ns = 0;

 private:
  std::uintptr_t next_ = std::uintptr_t{1} << 40;
};

}  // namespace labrig::test
