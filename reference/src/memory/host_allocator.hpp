// PyTorch's allocator of pinned host memory, by its rules. Pinning is slow, so a freed block is kept for the next
// request of its size. Sizes are powers of two and blocks are never split: simple, and up to half of a block is waste.
//
//   request of 129.5 MiB  -->  block of 256 MiB
//
//               no copy uses it
//   in use --------free--------------------------------> free list of its size --> in use again
//             \    copies may still be under way                  ^
//              --free--> one event in each of their streams -->  all events reached
//
// A copy that does not block tells the allocator which stream carries it (record_use). Without that, a buffer that is
// let go of right after `to(device, true)` would be handed to somebody who writes to it while the card still reads.
// Events are polled at each request, oldest first, up to the first that is not reached: one slow stream holds up the
// blocks behind it, as in PyTorch. What PyTorch does not do: when the card's driver has no room, what the free lists
// hold is given back and the driver is asked once more. Read next: host_statistics.hpp (what is counted).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "labrig/export.hpp"
#include "memory/host_statistics.hpp"
#include "memory/settings.hpp"

namespace labrig {

// A stream of one of the cards that reach the memory.
struct HostStream {
  int card = 0;
  std::uint16_t stream = 0;
  bool operator==(const HostStream&) const = default;
};

// What the allocator needs of the cards. The real one is in device/pinned.cpp; tests put a fake one here.
class HostDriver {
 public:
  virtual ~HostDriver() = default;
  // Pins memory, as cudaHostAlloc. Null when there is no room.
  virtual void* malloc(std::size_t bytes) = 0;
  virtual void free(void* memory) = 0;
  // The most that can be pinned, in bytes; 0 when nobody knows.
  virtual std::size_t limit_bytes() = 0;
  // A block now belongs to a tensor, or no longer does.
  virtual void note_alloc(void* block, std::size_t requested, std::size_t block_bytes, std::string_view name) = 0;
  virtual void note_free(void* block) = 0;
  // An event behind the work that is in the stream now.
  virtual std::uint32_t record_event(HostStream stream) = 0;
  virtual bool query_event(int card, std::uint32_t event) = 0;
  virtual void destroy_event(int card, std::uint32_t event) = 0;
  // A steady clock.
  virtual std::int64_t clock_ns() = 0;
};

class LABRIG_API HostAllocator {
 public:
  // `device_name` appears in error texts. Memory that is still held when the allocator ends goes with its driver.
  HostAllocator(HostDriver& driver, std::string device_name);
  HostAllocator(const HostAllocator&) = delete;
  HostAllocator& operator=(const HostAllocator&) = delete;

  // Null for 0 bytes. `name` is that of the tensor. Throws Error `out-of-pinned-memory`.
  void* allocate(std::size_t bytes, std::string_view name);
  void free(void* block);
  // The work that is in `stream` when the block is freed may use it. False for what is not the start of a block in use.
  bool record_use(const void* block, HostStream stream);
  // Gives what the free lists hold back to the driver.
  void empty_cache();

  void set_settings(const PinnedSettings& settings);
  HostStatistics statistics() const;
  void reset_peaks();

  std::size_t block_bytes(std::size_t requested) const;  // what a request takes under the present settings

 private:
  struct Block {
    std::byte* address = nullptr;
    std::size_t bytes = 0;
    std::size_t requested = 0;  // what its holder asked for; 0 while nobody holds it
    std::vector<HostStream> streams;
    std::size_t events = 0;  // that must be reached before it is used again
  };
  struct PendingEvent {
    int card;
    std::uint32_t event;
    Block* block;
  };
  using FreeList = std::vector<Block*>;  // the one freed last at the end

  FreeList& list_for(std::size_t bytes);
  void process_events();
  Block* take_free(std::size_t bytes);
  Block* take_from_driver(std::size_t bytes);
  void make_available(Block* block);
  void release_cached();
  void give_back(Block* block);
  [[noreturn]] void throw_out_of_memory(std::size_t requested, std::size_t rounded);

  mutable std::mutex mutex_;
  HostDriver& driver_;
  const std::string device_name_;
  PinnedSettings settings_;
  std::unordered_map<const void*, Block> blocks_;  // all that the driver gave, by address
  std::array<FreeList, 65> free_;                  // by the logarithm of the size, rounded up
  std::deque<PendingEvent> events_;                // the oldest first
  HostStatistics statistics_;
};

}  // namespace labrig
