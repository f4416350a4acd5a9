// What the caching allocator needs of a driver. The real one is a device's backend (device/slot.cpp); tests and the
// replay of recorded traces put a fake one here, with addresses and sizes of their choice.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "labrig/memory.hpp"

namespace labrig {

class DriverMemory {
 public:
  using Event = std::uint32_t;

  virtual ~DriverMemory() = default;
  // Null when there is no room. Aligned to 512 bytes.
  virtual void* malloc(std::size_t bytes) = 0;
  // Waits until the card has done all its work.
  virtual void free(void* memory) = 0;
  virtual MemoryInfo memory_info() = 0;
  // Who holds memory of this card, as far as the driver tells.
  virtual std::vector<ProcessMemory> processes() { return {}; }

  // --- events: when is the work of a stream done that was queued up to now? -------------------------------------
  virtual Event record_event(std::uint16_t stream) = 0;
  virtual bool event_is_done(Event event) = 0;
  virtual void wait_for_event(Event event) = 0;
  virtual void release_event(Event event) = 0;

  // --- pages, for expandable segments ----------------------------------------------------------------------------
  virtual bool has_pages() const { return false; }
  // Addresses without memory behind them; null when there are none left.
  virtual std::byte* reserve(std::size_t /*bytes*/) { return nullptr; }
  virtual void give_back(std::byte* /*address*/, std::size_t /*bytes*/) {}
  // Puts memory behind addresses of a reserved range, all of it or (false) none.
  virtual bool map(std::byte* /*address*/, std::size_t /*bytes*/) { return false; }
  // Takes it away, after the work queued so far in `stream` is done.
  virtual void unmap(std::byte* /*address*/, std::size_t /*bytes*/, std::uint16_t /*stream*/) {}
};

}  // namespace labrig
