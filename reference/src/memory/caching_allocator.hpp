// PyTorch's caching allocator, by its rules: memory comes from the driver in large segments, tensors get blocks cut
// from them, and a freed block waits here for the next request of its size instead of going back to the driver.
//
// A request goes down this list until it has a block:
//
//   1  blocks that other streams have finished with become free                     stream_uses.cpp
//   2  the smallest free block of its stream and pool that fits                     caching_allocator.cpp
//   3  callbacks that may free memory, then the free blocks once more
//   4  old cached blocks go back to the driver, when that is switched on            release.cpp
//   5  a segment from the driver (or pages of an expandable segment)                expandable.cpp
//   6  enough blocks above `max_split_size` go back, then the driver again          release.cpp
//   7  everything that is whole and free goes back, then the driver again
//   8  out of memory                                                                out_of_memory.cpp
//
// What a block has too much is split off where it is worth keeping: 512 bytes in the small pool, more than 1 MiB in the
// large one. The front part is handed out:
//
//   [ free, 20 MiB                   ]   a request of 2 MiB:   [ 2 MiB ][ free, 18 MiB           ]
//   [ 2 MiB ][ free, 18 MiB          ]   freed again:          [ free, 20 MiB                    ]     (blocks.cpp)
//
// Only a segment that is one free block can go back to the driver: one small tensor keeps the other 19 MiB here. That
// is fragmentation. Read next: block.hpp, rounding.hpp, statistics.hpp (what is counted).
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "labrig/export.hpp"
#include "memory/device_allocator.hpp"
#include "memory/driver_memory.hpp"
#include "memory/history.hpp"
#include "memory/settings.hpp"
#include "memory/snapshot.hpp"
#include "memory/statistics.hpp"

namespace labrig {

class LABRIG_API CachingAllocator final : public DeviceAllocator {
 public:
  // `device_name` and `device_index` appear in error texts.
  CachingAllocator(DriverMemory& driver, std::string device_name, int device_index, AllocatorSettings settings = {});
  CachingAllocator(const CachingAllocator&) = delete;
  CachingAllocator& operator=(const CachingAllocator&) = delete;

  Block* allocate(std::size_t bytes, std::uint16_t stream) override;
  void free(Block* block) override;
  void record_stream(Block* block, std::uint16_t stream) override;
  // Gives every free block that is a whole segment back to the driver.
  void empty_cache();

  // --- limits and settings --------------------------------------------------------------------------------------
  // At most this much may be held from the driver; beyond it requests fail as if the card were full.
  void set_limit(std::optional<std::size_t> bytes);
  // The same as a part of the card, 0 to 1.
  void set_fraction(double fraction);
  void set_settings(AllocatorSettings settings);
  AllocatorSettings settings() const;
  // What PyTorch would have warned of.
  std::vector<std::string> warnings() const;

  // --- figures ----------------------------------------------------------------------------------------------------
  AllocatorStatistics statistics() const;
  std::size_t largest_free_block() const;
  void reset_peaks();
  void reset_accumulated();
  void record_history(std::size_t max_entries);
  MemorySnapshot snapshot();

  // --- when memory is short ---------------------------------------------------------------------------------------
  // May free blocks; answers whether a second look at the free blocks is worth while.
  void add_free_memory_callback(std::function<bool()> callback);
  void add_out_of_memory_observer(std::function<void(const OutOfMemory&)> observer);

 private:
  using Lock = std::unique_lock<std::mutex>;
  struct PendingEvent {
    DriverMemory::Event event;
    Block* block;
  };

  BlockPool& pool_of(const Block& block) { return block.small ? small_ : large_; }
  // caching_allocator.cpp: the request
  Block* find_block(const Block& wanted, Lock& lock);
  Block* take_free(const Block& wanted);
  bool run_free_memory_callbacks(Lock& lock);
  Block* take_from_driver(const Block& wanted, bool retry);
  Block* take_segment(const Block& wanted);
  bool should_split(const Block& block, std::size_t bytes) const;
  Block* cut(Block* block, std::size_t bytes);
  void split(Block* block, std::size_t bytes, bool was_split);
  void hand_out(Block* block, std::size_t requested, std::size_t rounded);
  [[noreturn]] void throw_out_of_memory(std::size_t requested, const Block& wanted, Lock& lock);
  // blocks.cpp: free blocks
  void free_now(Block* block);
  std::size_t merge(Block* block, Block* neighbour);
  void insert_free(Block* block);
  Block* new_block(const Block& values);
  void forget(Block* block);
  // stream_uses.cpp
  void record_events(Block* block);
  void finish_event(const PendingEvent& pending);
  void process_events();
  void synchronize_events();
  // release.cpp
  void release_cached();
  void release_whole_segments(BlockPool& pool);
  bool release_oversize(const Block& wanted);
  void collect_garbage();
  void release_segment(Block* block);
  // expandable.cpp
  bool uses_pages() const { return settings_.expandable_segments; }
  Block* take_pages(const Block& wanted);
  Block* find_addresses(const Block& wanted);
  bool map_pages(Block* block, std::size_t bytes);
  void unmap_pages(Block* block);

  void note(MemoryAction action, const Block& block, std::size_t bytes) {
    history_.record(action, reinterpret_cast<std::uintptr_t>(block.address), bytes, block.stream);
  }
  std::size_t largest_free() const;
  std::size_t reserved() const { return static_cast<std::size_t>(statistics_.reserved_bytes.all().current); }
  bool collects_garbage() const { return limit_ && settings_.garbage_collection_threshold > 0; }
  void use_settings(AllocatorSettings settings);

  mutable std::mutex mutex_;
  DriverMemory& driver_;
  const std::string device_name_;
  const int device_index_;
  AllocatorSettings settings_;
  std::vector<std::string> warnings_;
  std::optional<std::size_t> limit_;
  BlockPool small_, large_;
  std::deque<Block> blocks_;                                  // every block ever made, at a fixed address
  std::vector<Block*> unused_;                                // those of them that stand for no memory at present
  std::map<Block*, std::vector<std::uint16_t>> stream_uses_;  // only looked up, never walked
  std::map<std::uint16_t, std::deque<PendingEvent>> pending_events_;  // by the stream that still works
  std::vector<std::unique_ptr<ExpandableSegment>> expandable_;
  AllocatorStatistics statistics_;
  AllocatorHistory history_;
  std::vector<std::function<bool()>> free_memory_callbacks_;
  std::vector<std::function<void(const OutOfMemory&)>> observers_;
};

}  // namespace labrig
