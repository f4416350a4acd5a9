// The way of a request, in PyTorch's order: round, look for a free block, ask the driver, give memory back and ask
// again, fail. Read next: blocks.cpp (what happens to a block that is freed).
#include "memory/caching_allocator.hpp"

#include <algorithm>

#include "memory/out_of_memory.hpp"
#include "memory/rounding.hpp"

namespace labrig {
namespace {

// No card has more; a request of this size is a mistake, and sums with it must not overflow.
constexpr std::size_t kBeyondAnyCard = std::size_t{1} << 60;

std::int64_t counted(std::size_t bytes) { return static_cast<std::int64_t>(bytes); }

}  // namespace

Block* CachingAllocator::allocate(std::size_t bytes, std::uint16_t stream) {
  Lock lock(mutex_);
  process_events();
  Block wanted;
  wanted.bytes = rounded_bytes(bytes, settings_);
  wanted.stream = stream;
  wanted.small = wanted.bytes <= kSmallBytes;
  Block* block = find_block(wanted, lock);
  if (!block) throw_out_of_memory(bytes, wanted, lock);
  hand_out(block, bytes, wanted.bytes);
  return block;
}

Block* CachingAllocator::find_block(const Block& wanted, Lock& lock) {
  if (Block* block = take_free(wanted)) return block;
  if (run_free_memory_callbacks(lock)) {
    if (Block* block = take_free(wanted)) return block;
  }
  if (collects_garbage()) collect_garbage();
  if (Block* block = take_from_driver(wanted, false)) return block;
  if (release_oversize(wanted)) {
    if (Block* block = take_from_driver(wanted, false)) return block;
  }
  // What this frees is not looked at, only given back: the free blocks are not searched again.
  release_cached();
  return take_from_driver(wanted, true);
}

Block* CachingAllocator::take_free(const Block& wanted) {
  BlockPool& pool = pool_of(wanted);
  if (collects_garbage()) ++pool.look_ups;
  // `wanted` has no address, so it sorts before every block of its size.
  auto found = pool.free.lower_bound(wanted);
  const auto usable = [&](auto it) { return it != pool.free.end() && (*it)->stream == wanted.stream; };
  if (!usable(found)) return nullptr;
  if ((*found)->expandable && uses_pages()) {
    // A block in front of unmapped addresses counts as large as it can become: better one that cannot grow.
    const auto can_grow_to = [](const Block* b) {
      return b->bytes + (b->next && !b->next->mapped ? b->next->bytes : 0);
    };
    for (auto next = std::next(found); (*found)->expandable && usable(next) && can_grow_to(*next) < can_grow_to(*found);
         ++next) {
      found = next;
    }
  } else {
    while (usable(found) && (*found)->expandable) ++found;  // switched off since: these wait for it to come back
    if (!usable(found)) return nullptr;
  }
  Block* block = *found;
  // Blocks above the split limit serve only requests above it, and those only when little is wasted.
  const std::size_t split_limit = settings_.max_split_bytes;
  if (wanted.bytes < split_limit && block->bytes >= split_limit) return nullptr;
  if (wanted.bytes >= split_limit && block->bytes - wanted.bytes >= settings_.max_non_split_rounding_bytes) {
    return nullptr;
  }
  pool.free.erase(found);
  return block;
}

// They may call free(): the lock is open meanwhile.
bool CachingAllocator::run_free_memory_callbacks(Lock& lock) {
  if (free_memory_callbacks_.empty()) return false;
  const auto callbacks = free_memory_callbacks_;
  lock.unlock();
  bool freed = false;
  for (const auto& callback : callbacks) freed |= callback();
  lock.lock();
  return freed;
}

Block* CachingAllocator::take_from_driver(const Block& wanted, bool retry) {
  if (retry) ++statistics_.num_alloc_retries;
  const std::size_t bytes = segment_bytes(wanted.bytes);
  if (bytes > kBeyondAnyCard) return nullptr;
  if (limit_ && reserved() + bytes > *limit_) {
    if (retry && settings_.throw_on_cudamalloc_oom) ++statistics_.num_oom_rejections;
    return nullptr;
  }
  return uses_pages() ? take_pages(wanted) : take_segment(wanted);
}

Block* CachingAllocator::take_segment(const Block& wanted) {
  Block segment = wanted;
  segment.bytes = segment_bytes(wanted.bytes);
  segment.address = static_cast<std::byte*>(driver_.malloc(segment.bytes));
  if (!segment.address) return nullptr;
  ++statistics_.num_device_alloc;
  statistics_.segment.increase(segment.small, 1);
  statistics_.reserved_bytes.increase(segment.small, counted(segment.bytes));
  if (segment.bytes >= settings_.max_split_bytes) statistics_.oversize_segments.increase(1);
  note(MemoryAction::segment_alloc, segment, segment.bytes);
  return new_block(segment);
}

bool CachingAllocator::should_split(const Block& block, std::size_t bytes) const {
  const std::size_t left = block.bytes - bytes;
  if (block.small || uses_pages()) return left >= kMinBlockBytes;
  return bytes < settings_.max_split_bytes && left > kSmallBytes;
}

// Leaves `bytes` in `block`; the rest becomes a block of its own behind it.
Block* CachingAllocator::cut(Block* block, std::size_t bytes) {
  Block rest = *block;
  rest.address += bytes;
  rest.bytes -= bytes;
  rest.previous = block;
  Block* remaining = new_block(rest);
  if (remaining->next) remaining->next->previous = remaining;
  block->next = remaining;
  block->bytes = bytes;
  return remaining;
}

// The rest is free from now on.
void CachingAllocator::split(Block* block, std::size_t bytes, bool was_split) {
  Block* remaining = cut(block, bytes);
  insert_free(remaining);
  if (block->expandable) return;
  if (was_split) {  // a free piece became smaller
    statistics_.inactive_split_bytes.decrease(block->small, counted(bytes));
  } else {  // a whole segment became a used and a free piece
    statistics_.inactive_split.increase(block->small, 1);
    statistics_.inactive_split_bytes.increase(block->small, counted(remaining->bytes));
  }
}

void CachingAllocator::hand_out(Block* block, std::size_t requested, std::size_t rounded) {
  const bool was_split = block->is_split(), small = block->small;
  if (should_split(*block, rounded)) {
    split(block, rounded, was_split);
  } else if (was_split && !block->expandable) {
    statistics_.inactive_split.decrease(small, 1);
    statistics_.inactive_split_bytes.decrease(small, counted(block->bytes));
  }
  block->allocated = true;
  block->requested = requested;
  note(MemoryAction::alloc, *block, requested);
  statistics_.allocation.increase(small, 1);
  statistics_.allocated_bytes.increase(small, counted(block->bytes));
  statistics_.active.increase(small, 1);
  statistics_.active_bytes.increase(small, counted(block->bytes));
  statistics_.requested_bytes.increase(small, counted(requested));
  if (block->bytes >= settings_.max_split_bytes) statistics_.oversize_allocations.increase(1);
}

std::size_t CachingAllocator::largest_free() const {
  std::size_t largest = 0;
  for (const BlockPool* pool : {&small_, &large_})
    for (const Block* block : pool->free) largest = std::max(largest, block->bytes);
  return largest;
}

void CachingAllocator::throw_out_of_memory(std::size_t requested, const Block& wanted, Lock& lock) {
  ++statistics_.num_ooms;
  OutOfMemory facts;
  facts.device_name = device_name_;
  facts.device_index = device_index_;
  facts.requested_bytes = requested;
  facts.rounded_bytes = wanted.bytes;
  facts.segment_bytes = segment_bytes(wanted.bytes);
  facts.card = driver_.memory_info();
  facts.limit_bytes = limit_;
  facts.allocated_bytes = static_cast<std::size_t>(statistics_.allocated_bytes.all().current);
  facts.reserved_bytes = reserved();
  facts.processes = driver_.processes();
  facts.largest_free_block_bytes = largest_free();
  history_.record(MemoryAction::oom, facts.card.free_bytes, wanted.bytes, wanted.stream);
  const auto observers = observers_;
  lock.unlock();
  for (const auto& observer : observers) observer(facts);
  throw OutOfMemoryError(std::move(facts));
}

}  // namespace labrig
