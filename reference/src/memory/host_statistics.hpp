// What is counted of pinned memory, under PyTorch's names.
//
//   allocations       blocks held from the driver: in use, awaiting events, and cached
//   active_requests   blocks that a tensor holds, or that await events; active_bytes counts them in full
//   requested_bytes   what the holders asked for (labrig's own): active_bytes above it is the price of powers of two
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "labrig/export.hpp"
#include "memory/statistics.hpp"

namespace labrig {

// How long calls of the driver took, in microseconds, each rounded down.
struct DurationStatistic {
  std::int64_t total_us = 0, max_us = 0, min_us = 0, count = 0;

  void add(std::int64_t us) {
    total_us += us;
    max_us = std::max(max_us, us);
    min_us = count == 0 ? us : std::min(min_us, us);
    ++count;
  }
};

struct HostStatistics {
  Statistic allocations, active_requests;                    // counts
  Statistic allocated_bytes, active_bytes, requested_bytes;  // bytes
  std::int64_t num_host_alloc = 0, num_host_free = 0;        // calls of the driver
  DurationStatistic host_alloc_time, host_free_time;         // of these calls

  void reset_peaks();
  // PyTorch's `host_memory_stats()`: "active_bytes.peak" and so on.
  LABRIG_API std::map<std::string, std::int64_t> flatten() const;
};

}  // namespace labrig
