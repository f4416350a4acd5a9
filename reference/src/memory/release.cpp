// The ways back to the driver: everything (empty_cache, and the last try before an out-of-memory error), just enough
// oversize blocks, and the oldest blocks. Only a free block that is a whole segment can go.
#include <algorithm>

#include "memory/caching_allocator.hpp"

namespace labrig {
namespace {

std::int64_t counted(std::size_t bytes) { return static_cast<std::int64_t>(bytes); }

}  // namespace

void CachingAllocator::empty_cache() {
  const Lock lock(mutex_);
  release_cached();
}

void CachingAllocator::release_cached() {
  synchronize_events();
  release_whole_segments(large_);
  release_whole_segments(small_);
}

void CachingAllocator::release_whole_segments(BlockPool& pool) {
  std::vector<Block*> pages;  // giving pages back changes the list that is walked
  for (auto it = pool.free.begin(); it != pool.free.end();) {
    Block* block = *it++;
    if (block->expandable) {
      pages.push_back(block);
    } else if (!block->is_split()) {
      release_segment(block);
    }
  }
  for (Block* block : pages) unmap_pages(block);
}

void CachingAllocator::release_segment(Block* block) {
  pool_of(*block).free.erase(block);
  note(MemoryAction::segment_free, *block, block->bytes);
  driver_.free(block->address);
  ++statistics_.num_device_free;
  statistics_.segment.decrease(block->small, 1);
  statistics_.reserved_bytes.decrease(block->small, counted(block->bytes));
  if (block->bytes >= settings_.max_split_bytes) statistics_.oversize_segments.decrease(1);
  forget(block);
}

// With a split limit: one cached oversize block that is large enough, or several from the largest down. Answers whether
// the driver is worth another try.
bool CachingAllocator::release_oversize(const Block& wanted) {
  if (!settings_.has_split_limit()) return false;
  auto& blocks = pool_of(wanted).free;
  Block key;
  key.stream = wanted.stream;
  key.bytes = std::max(wanted.bytes, settings_.max_split_bytes);
  auto it = blocks.lower_bound(key);
  if (it != blocks.end() && (*it)->stream == key.stream) {
    if ((*it)->expandable) return false;
    release_segment(*it);
    return true;
  }
  std::size_t released = 0;
  while (released < key.bytes && it != blocks.begin()) {
    Block* block = *--it;
    if (block->stream != key.stream || block->bytes < settings_.max_split_bytes) break;
    if (block->expandable) continue;
    released += block->bytes;
    ++it;  // stays valid: the next one, or the end
    release_segment(block);
  }
  return released >= key.bytes;
}

// When the cache holds more than the threshold of what it may hold: whole blocks of the large pool go, round by round
// all of at least average age, until enough is back. A round is not cut short, so that this happens seldom. Age is
// counted in look-ups of the pool; nothing waits for the card.
void CachingAllocator::collect_garbage() {
  const auto threshold =
      static_cast<std::size_t>(settings_.garbage_collection_threshold * static_cast<double>(*limit_));
  if (reserved() <= threshold) return;
  const std::size_t target = reserved() - threshold;
  const auto collectable = [](const Block* block) { return !block->is_split() && !block->expandable; };
  const auto age_of = [this](const Block* block) { return large_.look_ups - block->freed_at; };
  std::uint64_t total_age = 0, count = 0;
  for (const Block* block : large_.free) {
    if (!collectable(block)) continue;
    total_age += age_of(block);
    ++count;
  }
  std::size_t collected = 0;
  for (bool progress = true; progress && collected < target && count > 0;) {
    const double mean_age = static_cast<double>(total_age) / static_cast<double>(count);
    progress = false;
    for (auto it = large_.free.begin(); it != large_.free.end();) {
      Block* block = *it++;
      if (!collectable(block) || static_cast<double>(age_of(block)) < mean_age) continue;
      progress = true;
      collected += block->bytes;
      total_age -= age_of(block);
      --count;
      release_segment(block);
    }
  }
}

}  // namespace labrig
