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

void put(Flat& flat, const std::string& key, const PoolStatistic& statistic) {
  put(flat, key + ".all", statistic.all());
  put(flat, key + ".large_pool", statistic.large());
  put(flat, key + ".small_pool", statistic.small());
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
  oversize_allocations.reset_peak();
  oversize_segments.reset_peak();
}

void AllocatorStatistics::reset_accumulated() {
  for (const Entry& entry : kEntries) (this->*entry.member).reset_accumulated();
  oversize_allocations.reset_accumulated();
  oversize_segments.reset_accumulated();
  num_alloc_retries = num_ooms = num_sync_all_streams = num_device_alloc = num_device_free = num_oom_rejections = 0;
}

Flat AllocatorStatistics::flatten() const {
  Flat flat;
  for (const Entry& entry : kEntries) put(flat, entry.name, this->*entry.member);
  put(flat, "reserved_bytes_by_private_pools", PoolStatistic{});  // there are no private pools
  put(flat, "oversize_allocations", oversize_allocations);
  put(flat, "oversize_segments", oversize_segments);
  flat["max_split_size"] = max_split_size;
  flat["num_alloc_retries"] = num_alloc_retries;
  flat["num_ooms"] = num_ooms;
  flat["num_sync_all_streams"] = num_sync_all_streams;
  flat["num_device_alloc"] = num_device_alloc;
  flat["num_device_free"] = num_device_free;
  flat["num_oom_rejections"] = num_oom_rejections;
  return flat;
}

}  // namespace labrig
