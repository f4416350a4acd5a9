// A driver for the caching allocator with a capacity and addresses of its own choice; the memory behind them does not
// exist.
#pragma once

#include <cstdint>
#include <map>

#include "memory/driver_memory.hpp"

namespace labrig::test {

class FakeDriver : public DriverMemory {
 public:
  explicit FakeDriver(std::size_t capacity = std::size_t{1} << 40) : capacity_(capacity) {}

  void* malloc(std::size_t bytes) override {
    if (bytes > capacity_ - used_) return nullptr;
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
  MemoryInfo memory_info() override { return {capacity_ - used_, capacity_}; }
  void synchronize() override { ++synchronisations; }

  std::size_t segments() const { return segments_.size(); }
  int synchronisations = 0;

 private:
  std::size_t capacity_, used_ = 0;
  std::uintptr_t next_ = std::uintptr_t{1} << 40;
  std::map<std::uintptr_t, std::size_t> segments_;
};

}  // namespace labrig::test
