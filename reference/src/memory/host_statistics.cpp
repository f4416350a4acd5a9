// The flat, dotted form of the statistics of pinned memory.
#include "memory/host_statistics.hpp"

namespace labrig {
namespace {

struct Entry {
  const char* name;
  Statistic HostStatistics::* member;
};
constexpr Entry kEntries[] = {
    {"allocations", &HostStatistics::allocations},         {"allocated_bytes", &HostStatistics::allocated_bytes},
    {"active_requests", &HostStatistics::active_requests}, {"active_bytes", &HostStatistics::active_bytes},
    {"requested_bytes", &HostStatistics::requested_bytes},
};

void put(std::map<std::string, std::int64_t>& flat, const std::string& key, const DurationStatistic& time) {
  flat[key + ".total"] = time.total_us;
  flat[key + ".max"] = time.max_us;
  flat[key + ".min"] = time.min_us;
  flat[key + ".count"] = time.count;
  flat[key + ".avg"] = time.count == 0 ? 0 : time.total_us / time.count;
}

}  // namespace

void HostStatistics::reset_peaks() {
  for (const Entry& entry : kEntries) (this->*entry.member).peak = (this->*entry.member).current;
}

std::map<std::string, std::int64_t> HostStatistics::flatten() const {
  std::map<std::string, std::int64_t> flat;
  for (const Entry& entry : kEntries) {
    const Statistic& statistic = this->*entry.member;
    const std::string key = entry.name;
    flat[key + ".current"] = statistic.current;
    flat[key + ".peak"] = statistic.peak;
    flat[key + ".allocated"] = statistic.allocated;
    flat[key + ".freed"] = statistic.freed;
  }
  flat["num_host_alloc"] = num_host_alloc;
  flat["num_host_free"] = num_host_free;
  put(flat, "host_alloc_time", host_alloc_time);
  put(flat, "host_free_time", host_free_time);
  return flat;
}

}  // namespace labrig
