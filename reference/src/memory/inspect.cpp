// What the allocator tells of itself, and its switches.
#include <algorithm>

#include "memory/caching_allocator.hpp"

namespace labrig {

CachingAllocator::CachingAllocator(DriverMemory& driver, std::string device_name, int device_index,
                                   AllocatorSettings settings)
    : driver_(driver), device_name_(std::move(device_name)), device_index_(device_index) {
  use_settings(std::move(settings));
}

void CachingAllocator::set_limit(std::optional<std::size_t> bytes) {
  const Lock lock(mutex_);
  limit_ = bytes;
}

void CachingAllocator::set_fraction(double fraction) {
  const Lock lock(mutex_);
  limit_ = static_cast<std::size_t>(fraction * static_cast<double>(driver_.memory_info().total_bytes));
}

void CachingAllocator::set_settings(AllocatorSettings settings) {
  const Lock lock(mutex_);
  use_settings(std::move(settings));
}

void CachingAllocator::use_settings(AllocatorSettings settings) {
  if (settings.expandable_segments && !driver_.has_pages()) {
    settings.expandable_segments = false;
    const std::string warning = "expandable_segments not supported on this platform";
    if (std::find(warnings_.begin(), warnings_.end(), warning) == warnings_.end()) warnings_.push_back(warning);
  }
  if (settings.per_process_memory_fraction) {
    limit_ = static_cast<std::size_t>(*settings.per_process_memory_fraction *
                                      static_cast<double>(driver_.memory_info().total_bytes));
  }
  settings_ = std::move(settings);
  statistics_.max_split_size = settings_.has_split_limit() ? static_cast<std::int64_t>(settings_.max_split_bytes) : -1;
}

AllocatorSettings CachingAllocator::settings() const {
  const Lock lock(mutex_);
  return settings_;
}

std::vector<std::string> CachingAllocator::warnings() const {
  const Lock lock(mutex_);
  return warnings_;
}

AllocatorStatistics CachingAllocator::statistics() const {
  const Lock lock(mutex_);
  return statistics_;
}

std::size_t CachingAllocator::largest_free_block() const {
  const Lock lock(mutex_);
  return largest_free();
}

void CachingAllocator::reset_peaks() {
  const Lock lock(mutex_);
  statistics_.reset_peaks();
}

void CachingAllocator::reset_accumulated() {
  const Lock lock(mutex_);
  statistics_.reset_accumulated();
}

void CachingAllocator::record_history(std::size_t max_entries) {
  const Lock lock(mutex_);
  history_.start(max_entries);
}

void CachingAllocator::add_free_memory_callback(std::function<bool()> callback) {
  const Lock lock(mutex_);
  free_memory_callbacks_.push_back(std::move(callback));
}

void CachingAllocator::add_out_of_memory_observer(std::function<void(const OutOfMemory&)> observer) {
  const Lock lock(mutex_);
  observers_.push_back(std::move(observer));
}

MemorySnapshot CachingAllocator::snapshot() {
  const Lock lock(mutex_);
  MemorySnapshot result;
  result.device_index = device_index_;
  result.settings = settings_;
  std::vector<const Block*> dead(unused_.begin(), unused_.end());
  std::sort(dead.begin(), dead.end());
  std::uint64_t active_bytes = 0;
  for (const Block& head : blocks_) {
    if (!head.mapped || (head.previous && head.previous->mapped)) continue;
    if (std::binary_search(dead.begin(), dead.end(), &head)) continue;
    MemorySnapshot::Segment segment;
    segment.address = reinterpret_cast<std::uintptr_t>(head.address);
    segment.stream = head.stream;
    segment.small = head.small;
    segment.expandable = head.expandable != nullptr;
    for (const Block* block = &head; block && block->mapped; block = block->next) {
      segment.blocks.push_back({reinterpret_cast<std::uintptr_t>(block->address), block->bytes, block->requested,
                                block->allocated, block->is_active()});
      segment.bytes += block->bytes;
      if (block->allocated) segment.allocated_bytes += block->bytes;
      if (block->is_active()) segment.active_bytes += block->bytes, segment.requested_bytes += block->requested;
    }
    active_bytes += segment.active_bytes;
    result.segments.push_back(std::move(segment));
  }
  std::sort(result.segments.begin(), result.segments.end(),
            [](const auto& a, const auto& b) { return a.address < b.address; });
  history_.record(MemoryAction::snapshot, 0, active_bytes, 0);
  result.events = history_.events();
  return result;
}

}  // namespace labrig
