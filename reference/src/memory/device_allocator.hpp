// The small interface of everything that hands out blocks of a card: the caching allocator, the one that does not
// cache, and the adaptors (adaptors.hpp) that stand in front of either and limit, count, log or try again.
#pragma once

#include <cstddef>
#include <cstdint>

#include "memory/block.hpp"

namespace labrig {

class DeviceAllocator {
 public:
  virtual ~DeviceAllocator() = default;
  // A block of at least `bytes` (> 0) for work on `stream`. Throws OutOfMemoryError.
  virtual Block* allocate(std::size_t bytes, std::uint16_t stream) = 0;
  virtual void free(Block* block) = 0;
  // `stream` uses the block too: once it is freed, it is handed out again only when the work that is queued there at
  // that moment is done.
  virtual void record_stream(Block* block, std::uint16_t stream) = 0;
};

}  // namespace labrig
