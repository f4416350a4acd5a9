// What happens to a block that is freed: it merges with its free neighbours and waits in its pool.
//
//   [ used ][ free ][ FREED ][ free ][ used ]    ->    [ used ][ free                ][ used ]
//
// The statistics count what such a merge does to the free pieces of split segments: two pieces went, one came.
#include "memory/caching_allocator.hpp"

namespace labrig {
namespace {

std::int64_t counted(std::size_t bytes) { return static_cast<std::int64_t>(bytes); }

}  // namespace

void CachingAllocator::free(Block* block) {
  const Lock lock(mutex_);
  block->allocated = false;
  note(MemoryAction::free_requested, *block, block->requested);
  statistics_.allocation.decrease(block->small, 1);
  statistics_.allocated_bytes.decrease(block->small, counted(block->bytes));
  if (block->bytes >= settings_.max_split_bytes) statistics_.oversize_allocations.decrease(1);
  if (block->used_elsewhere) {
    record_events(block);  // it is free when they are done
  } else {
    free_now(block);
  }
}

void CachingAllocator::free_now(Block* block) {
  note(MemoryAction::free_completed, *block, block->requested);
  const bool small = block->small;
  const auto bytes = counted(block->bytes), requested = counted(block->requested);
  block->requested = 0;
  std::int64_t pieces = 0, piece_bytes = 0;  // change in the free pieces of split segments
  for (Block* neighbour : {block->previous, block->next}) {
    if (const std::size_t merged = merge(block, neighbour)) {
      --pieces;
      piece_bytes -= counted(merged);
    }
  }
  insert_free(block);
  if (block->is_split()) {
    ++pieces;
    piece_bytes += counted(block->bytes);
  }
  if (!block->expandable) {  // their free pages can always go back, so none of their pieces counts as stuck
    statistics_.inactive_split.change(small, pieces);
    statistics_.inactive_split_bytes.change(small, piece_bytes);
  }
  statistics_.active.decrease(small, 1);
  statistics_.active_bytes.decrease(small, bytes);
  statistics_.requested_bytes.decrease(small, requested);
}

// Adds a free neighbour to `block`. Returns the bytes gained; 0 when there is none or it is in use.
std::size_t CachingAllocator::merge(Block* block, Block* neighbour) {
  if (!neighbour || neighbour->is_active() || neighbour->mapped != block->mapped) return 0;
  BlockPool& pool = pool_of(*neighbour);
  if (neighbour->mapped) {
    pool.free.erase(neighbour);
  } else {
    pool.unmapped.erase(neighbour);
  }
  const std::size_t bytes = neighbour->bytes;
  if (neighbour == block->previous) {
    block->address = neighbour->address;
    block->previous = neighbour->previous;
    if (block->previous) block->previous->next = block;
  } else {
    block->next = neighbour->next;
    if (block->next) block->next->previous = block;
  }
  block->bytes += bytes;
  forget(neighbour);
  return bytes;
}

void CachingAllocator::insert_free(Block* block) {
  BlockPool& pool = pool_of(*block);
  block->freed_at = pool.look_ups;
  pool.free.insert(block);
}

Block* CachingAllocator::new_block(const Block& values) {
  if (unused_.empty()) return &blocks_.emplace_back(values);
  Block* block = unused_.back();
  unused_.pop_back();
  *block = values;
  return block;
}

void CachingAllocator::forget(Block* block) { unused_.push_back(block); }

}  // namespace labrig
