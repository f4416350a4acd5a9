// The public figures of pinned memory. A type of card that has not been used is not opened to answer.
#include "device/registry.hpp"
#include "labrig/memory.hpp"

namespace labrig {
namespace {

// Calls `use` with the allocator of that type of card, if there is one.
template <class Use>
void with_allocator(Device device, Use&& use) {
  const auto slot = open_pinning_slot(device.type());
  if (slot && slot->pinned_allocator()) use(*slot->pinned_allocator());
}

}  // namespace

std::map<std::string, std::int64_t> host_memory_stats(Device device) {
  HostStatistics statistics;
  with_allocator(device, [&](HostAllocator& allocator) { statistics = allocator.statistics(); });
  return statistics.flatten();
}

void reset_peak_host_memory_stats(Device device) {
  with_allocator(device, [](HostAllocator& allocator) { allocator.reset_peaks(); });
}

void empty_host_cache(Device device) {
  with_allocator(device, [](HostAllocator& allocator) { allocator.empty_cache(); });
}

}  // namespace labrig
