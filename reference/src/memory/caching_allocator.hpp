// PyTorch's caching allocator, by its rules: memory comes from the driver in large segments, tensors get blocks cut
// from them, and a freed block waits here for the next request of its size instead of going back to the driver.
//
//   request         rounded to           pool    segment asked of the driver
//   up to 1 MiB     a multiple of 512    small   2 MiB
//   below 10 MiB    a multiple of 512    large   20 MiB
//   from 10 MiB     a multiple of 512    large   the size, rounded up to 2 MiB
//
//   segment  [ block A ][ free ][ block B ][ free         ]     neighbours that are both free are merged; a segment
//   goes
//             previous <------ next ------>                     back to the driver only when nothing of it is in use
//
// A request takes the smallest free block of its own stream that fits, the one at the lowest address among equals. What
// is left over is split off where it is worth keeping: 512 bytes in the small pool, more than 1 MiB in the large one.
// When the driver has no room, all unsplit free blocks are given back and the driver is asked once more.
// Read next: statistics.hpp (what is counted), out_of_memory.hpp (what is said when nothing helps).
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "labrig/export.hpp"
#include "memory/driver_memory.hpp"
#include "memory/statistics.hpp"

namespace labrig {

// A piece of a segment. Owned by the allocator; a pointer to an allocated block is its holder's ticket for `free`.
struct Block {
  std::byte* address = nullptr;
  std::size_t bytes = 0;
  std::size_t requested = 0;  // what the holder asked for; 0 while free
  std::uint16_t stream = 0;   // the stream it was allocated on; it never serves another
  bool small = false;         // of the small pool
  bool allocated = false;
  Block* previous = nullptr;  // the neighbours in the same segment
  Block* next = nullptr;

  bool is_split() const { return previous != nullptr || next != nullptr; }
};

class LABRIG_API CachingAllocator {
 public:
  // `device_name` and `device_index` appear in error texts.
  CachingAllocator(DriverMemory& driver, std::string device_name, int device_index);
  CachingAllocator(const CachingAllocator&) = delete;
  CachingAllocator& operator=(const CachingAllocator&) = delete;

  // A block of at least `bytes` (> 0) for work on `stream`. Throws Error `out-of-memory`.
  Block* allocate(std::size_t bytes, std::uint16_t stream);
  void free(Block* block);
  // Waits for the card and gives every unsplit free block back to the driver.
  void empty_cache();

  // At most this much may be held from the driver; beyond it requests fail as if the card were full.
  void set_limit(std::optional<std::size_t> bytes);
  AllocatorStatistics statistics() const;
  void reset_peaks();

  static std::size_t rounded_bytes(std::size_t requested);
  static std::size_t segment_bytes(std::size_t rounded);

 private:
  // Free blocks in the order in which a request looks at them.
  struct BestFit {
    using is_transparent = void;
    bool operator()(const Block* a, const Block* b) const;
  };
  using FreeBlocks = std::set<Block*, BestFit>;

  FreeBlocks& pool_of(const Block& block) { return block.small ? small_ : large_; }
  Block* take_free(const Block& wanted);
  Block* take_from_driver(const Block& wanted, bool retry);
  void split_if_worth_it(Block* block, std::size_t bytes, bool was_split);
  std::size_t merge(Block* block, Block* neighbour);
  void release_cached();
  void release_unsplit(FreeBlocks& pool);
  Block* new_block(const Block& values);
  void forget(Block* block);
  [[noreturn]] void throw_out_of_memory(std::size_t requested, std::size_t rounded);

  mutable std::mutex mutex_;
  DriverMemory& driver_;
  std::string device_name_;
  int device_index_;
  std::optional<std::size_t> limit_;
  FreeBlocks small_, large_;
  std::deque<Block> blocks_;    // every block ever made, at a fixed address
  std::vector<Block*> unused_;  // those of them that stand for no memory at present
  AllocatorStatistics statistics_;
};

}  // namespace labrig
