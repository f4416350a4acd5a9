// The statistics of a caching allocator, under PyTorch's names. Each is kept for all blocks together and for each of
// the two pools.
//
//   allocated   blocks that tensors hold          reserved         segments held from the driver
//   requested   what the tensors asked for        inactive_split   free pieces of segments that are partly in use
//   active      allocated, or freed but still awaited by a stream
// Read next: summary.hpp (the table of them).
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <string>

#include "labrig/export.hpp"

namespace labrig {

struct Statistic {
  std::int64_t current = 0, peak = 0;
  std::int64_t allocated = 0, freed = 0;  // sums of all increases and of all decreases

  void increase(std::int64_t amount) {
    current += amount;
    allocated += amount;
    peak = std::max(peak, current);
  }
  void decrease(std::int64_t amount) {
    current -= amount;
    freed += amount;
  }
  void reset_peak() { peak = current; }
  void reset_accumulated() { allocated = freed = 0; }
};

class PoolStatistic {
 public:
  void increase(bool small, std::int64_t amount) {
    all_.increase(amount);
    (small ? small_ : large_).increase(amount);
  }
  void decrease(bool small, std::int64_t amount) {
    all_.decrease(amount);
    (small ? small_ : large_).decrease(amount);
  }
  // By an amount of either sign.
  void change(bool small, std::int64_t amount) { amount > 0 ? increase(small, amount) : decrease(small, -amount); }
  void reset_peak() {
    for (Statistic* statistic : {&all_, &large_, &small_}) statistic->reset_peak();
  }
  void reset_accumulated() {
    for (Statistic* statistic : {&all_, &large_, &small_}) statistic->reset_accumulated();
  }
  const Statistic& all() const { return all_; }
  const Statistic& large() const { return large_; }
  const Statistic& small() const { return small_; }

 private:
  Statistic all_, large_, small_;
};

struct AllocatorStatistics {
  PoolStatistic allocation, segment, active, inactive_split;  // counts
  PoolStatistic allocated_bytes, reserved_bytes, active_bytes, inactive_split_bytes, requested_bytes;
  Statistic oversize_allocations, oversize_segments;  // of `max_split_size` and more
  std::int64_t max_split_size = -1;                   // the setting in bytes; -1: none
  std::int64_t num_alloc_retries = 0;                 // attempts after the whole cache was given back
  std::int64_t num_ooms = 0;                          // out-of-memory errors raised
  std::int64_t num_sync_all_streams = 0;              // waits before giving the cache back
  std::int64_t num_device_alloc = 0, num_device_free = 0;
  std::int64_t num_oom_rejections = 0;  // refused by the limit before the driver was asked (throw_on_cudamalloc_oom)

  void reset_peaks();
  void reset_accumulated();
  // PyTorch's `memory_stats()`: "allocated_bytes.all.peak" and so on.
  LABRIG_API std::map<std::string, std::int64_t> flatten() const;
};

}  // namespace labrig
