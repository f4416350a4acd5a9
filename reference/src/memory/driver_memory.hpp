// What the caching allocator needs of a driver. The real one is a device's backend (device/slot.cpp); tests put a fake
// one here, with addresses and sizes of their choice.
#pragma once

#include <cstddef>

#include "labrig/memory.hpp"

namespace labrig {

class DriverMemory {
 public:
  virtual ~DriverMemory() = default;
  // Null when there is no room. Aligned to 512 bytes.
  virtual void* malloc(std::size_t bytes) = 0;
  virtual void free(void* memory) = 0;
  virtual MemoryInfo memory_info() = 0;
  // Waits until the card has done all its work.
  virtual void synchronize() = 0;
};

}  // namespace labrig
