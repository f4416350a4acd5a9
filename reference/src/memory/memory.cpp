// The public figures of device memory. A device that has not been used is not opened to answer.
#include "labrig/memory.hpp"

#include "device/registry.hpp"

namespace labrig {
namespace {

AllocatorStatistics statistics_of(Device device) {
  const auto slot = open_slot(device);
  return slot && slot->allocator() ? slot->allocator()->statistics() : AllocatorStatistics{};
}

std::size_t bytes(std::int64_t value) { return static_cast<std::size_t>(value); }

}  // namespace

std::size_t memory_allocated(Device device) { return bytes(statistics_of(device).allocated_bytes.all().current); }
std::size_t memory_reserved(Device device) { return bytes(statistics_of(device).reserved_bytes.all().current); }
std::size_t max_memory_allocated(Device device) { return bytes(statistics_of(device).allocated_bytes.all().peak); }
std::size_t max_memory_reserved(Device device) { return bytes(statistics_of(device).reserved_bytes.all().peak); }

void reset_peak_memory_stats(Device device) {
  const auto slot = open_slot(device);
  if (slot && slot->allocator()) slot->allocator()->reset_peaks();
}

void empty_cache(Device device) {
  const auto slot = open_slot(device);
  if (slot && slot->allocator()) slot->allocator()->empty_cache();
}

std::map<std::string, std::int64_t> memory_stats(Device device) { return statistics_of(device).flatten(); }

MemoryInfo mem_get_info(Device device) { return slot_of(device)->backend().memory_info(); }

}  // namespace labrig
