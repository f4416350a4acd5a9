// The flat, dotted form of the allocator's statistics.
#include "memory/statistics.hpp"

namespace labrig {
namespace {

using Flat = std::map<std::string, std::int64_t>;

void put(Flat& flat, const std::string& key, const Statistic& statistic) {
  flat[key + ".current"] = statistic.current;
  flat[key + ".peak"] = statistic.peak;
  flat[key + ".allocated"] = statistic.allocated;
  flat[key + ".freed"] = statistic.freed;
}

struct Entry {
  const char* name;
  PoolStatistic AllocatorStatistics::* member;
};
constexpr Entry kEntries[] = {
    {"allocation", &AllocatorStatistics::allocation},
    {"segment", &AllocatorStatistics::segment},
    {"active", &AllocatorStatistics::active},
    {"inactive_split", &AllocatorStatistics::inactive_split},
    {"allocated_bytes", &AllocatorStatistics::allocated_bytes},
    {"reserved_bytes", &AllocatorStatistics::reserved_bytes},
    {"active_bytes", &AllocatorStatistics::active_bytes},
    {"inactive_split_bytes", &AllocatorStatistics::inactive_split_bytes},
    {"requested_bytes", &AllocatorStatistics::requested_bytes},
};

}  // namespace

void AllocatorStatistics::reset_peaks() {
  for (const Entry& entry : kEntries) (this->*entry.member).reset_peak();
}

Flat AllocatorStatistics::flatten() const {
  Flat flat;
  for (const Entry& entry : kEntries) {
    const PoolStatistic& statistic = this->*entry.member;
    put(flat, std::string(entry.name) + ".all", statistic.all());
    put(flat, std::string(entry.name) + ".large_pool", statistic.large());
    put(flat, std::string(entry.name) + ".small_pool", statistic.small());
  }
  // Blocks above `max_split_size`; without that setting, which PyTorch shows as -1, there are none.
  put(flat, "oversize_allocations", Statistic{});
  put(flat, "oversize_segments", Statistic{});
  flat["max_split_size"] = -1;
  flat["num_alloc_retries"] = num_alloc_retries;
  flat["num_ooms"] = num_ooms;
  flat["num_sync_all_streams"] = num_sync_all_streams;
  flat["num_device_alloc"] = num_device_alloc;
  flat["num_device_free"] = num_device_free;
  return flat;
}

}  // namespace labrig
