// The steps of a request, in PyTorch's order: round, look for a free block, ask the driver, give the cache back and ask
// again, fail.
#include "memory/caching_allocator.hpp"

#include <functional>
#include <tuple>

#include "memory/out_of_memory.hpp"

namespace labrig {
namespace {

constexpr std::size_t kMinBlock = 512;
constexpr std::size_t kSmallRequest = std::size_t{1} << 20;  // served by the small pool up to here
constexpr std::size_t kSmallSegment = std::size_t{2} << 20;
constexpr std::size_t kLargeSegment = std::size_t{20} << 20;
constexpr std::size_t kOwnSegment = std::size_t{10} << 20;  // from here a request gets a segment of its own size
constexpr std::size_t kSegmentRounding = std::size_t{2} << 20;

constexpr std::size_t round_up(std::size_t bytes, std::size_t multiple) {
  return (bytes + multiple - 1) / multiple * multiple;
}
std::int64_t counted(std::size_t bytes) { return static_cast<std::int64_t>(bytes); }

}  // namespace

CachingAllocator::CachingAllocator(DriverMemory& driver, std::string device_name, int device_index)
    : driver_(driver), device_name_(std::move(device_name)), device_index_(device_index) {}

std::size_t CachingAllocator::rounded_bytes(std::size_t requested) {
  return requested < kMinBlock ? kMinBlock : round_up(requested, kMinBlock);
}

std::size_t CachingAllocator::segment_bytes(std::size_t rounded) {
  if (rounded <= kSmallRequest) return kSmallSegment;
  if (rounded < kOwnSegment) return kLargeSegment;
  return round_up(rounded, kSegmentRounding);
}

bool CachingAllocator::BestFit::operator()(const Block* a, const Block* b) const {
  if (a->stream != b->stream) return a->stream < b->stream;
  if (a->bytes != b->bytes) return a->bytes < b->bytes;
  return std::less<>()(a->address, b->address);
}

Block* CachingAllocator::allocate(std::size_t bytes, std::uint16_t stream) {
  const std::lock_guard lock(mutex_);
  Block wanted;
  wanted.bytes = rounded_bytes(bytes);
  wanted.stream = stream;
  wanted.small = wanted.bytes <= kSmallRequest;

  Block* block = take_free(wanted);
  if (!block) block = take_from_driver(wanted, false);
  if (!block) {
    release_cached();
    block = take_from_driver(wanted, true);
  }
  if (!block) throw_out_of_memory(bytes, wanted.bytes);

  split_if_worth_it(block, wanted.bytes, block->is_split());
  block->allocated = true;
  block->requested = bytes;
  statistics_.allocation.increase(block->small, 1);
  statistics_.allocated_bytes.increase(block->small, counted(block->bytes));
  statistics_.active.increase(block->small, 1);
  statistics_.active_bytes.increase(block->small, counted(block->bytes));
  statistics_.requested_bytes.increase(block->small, counted(bytes));
  return block;
}

Block* CachingAllocator::take_free(const Block& wanted) {
  FreeBlocks& pool = pool_of(wanted);
  // `wanted` has no address, so it sorts before every block of its size.
  const auto found = pool.lower_bound(&wanted);
  if (found == pool.end() || (*found)->stream != wanted.stream) return nullptr;
  Block* block = *found;
  pool.erase(found);
  return block;
}

Block* CachingAllocator::take_from_driver(const Block& wanted, bool retry) {
  if (retry) ++statistics_.num_alloc_retries;
  Block segment = wanted;
  segment.bytes = segment_bytes(wanted.bytes);
  const auto reserved = static_cast<std::size_t>(statistics_.reserved_bytes.all().current);
  if (limit_ && reserved + segment.bytes > *limit_) return nullptr;
  segment.address = static_cast<std::byte*>(driver_.malloc(segment.bytes));
  if (!segment.address) return nullptr;
  ++statistics_.num_device_alloc;
  statistics_.segment.increase(segment.small, 1);
  statistics_.reserved_bytes.increase(segment.small, counted(segment.bytes));
  return new_block(segment);
}

// Leaves `bytes` in `block` and the rest behind it as a free block, or hands the block out whole.
void CachingAllocator::split_if_worth_it(Block* block, std::size_t bytes, bool was_split) {
  const std::size_t left = block->bytes - bytes;
  const bool splits = block->small ? left >= kMinBlock : left > kSmallRequest;
  PoolStatistic& pieces = statistics_.inactive_split;
  PoolStatistic& piece_bytes = statistics_.inactive_split_bytes;
  if (!splits) {
    if (was_split) {
      pieces.decrease(block->small, 1);
      piece_bytes.decrease(block->small, counted(block->bytes));
    }
    return;
  }
  Block rest = *block;
  rest.address += bytes;
  rest.bytes = left;
  rest.previous = block;
  Block* remaining = new_block(rest);
  if (remaining->next) remaining->next->previous = remaining;
  block->next = remaining;
  block->bytes = bytes;
  pool_of(*remaining).insert(remaining);
  if (was_split) {  // a free piece became smaller
    piece_bytes.decrease(block->small, counted(bytes));
  } else {  // a whole segment became a used and a free piece
    pieces.increase(block->small, 1);
    piece_bytes.increase(block->small, counted(left));
  }
}

void CachingAllocator::free(Block* block) {
  const std::lock_guard lock(mutex_);
  const bool small = block->small;
  const auto bytes = counted(block->bytes), requested = counted(block->requested);
  block->allocated = false;
  block->requested = 0;
  statistics_.allocation.decrease(small, 1);
  statistics_.allocated_bytes.decrease(small, bytes);

  std::int64_t pieces = 0, piece_bytes = 0;  // change in the free pieces of split segments
  for (Block* neighbour : {block->previous, block->next}) {
    if (const std::size_t merged = merge(block, neighbour)) {
      --pieces;
      piece_bytes -= counted(merged);
    }
  }
  pool_of(*block).insert(block);
  if (block->is_split()) {
    ++pieces;
    piece_bytes += counted(block->bytes);
  }
  const auto change = [small](PoolStatistic& statistic, std::int64_t amount) {
    if (amount > 0) statistic.increase(small, amount);
    if (amount < 0) statistic.decrease(small, -amount);
  };
  change(statistics_.inactive_split, pieces);
  change(statistics_.inactive_split_bytes, piece_bytes);
  statistics_.active.decrease(small, 1);
  statistics_.active_bytes.decrease(small, bytes);
  statistics_.requested_bytes.decrease(small, requested);
}

// Adds a free neighbour to `block`. Returns the bytes gained; 0 when there is none or it is in use.
std::size_t CachingAllocator::merge(Block* block, Block* neighbour) {
  if (!neighbour || neighbour->allocated) return 0;
  pool_of(*neighbour).erase(neighbour);
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

void CachingAllocator::empty_cache() {
  const std::lock_guard lock(mutex_);
  release_cached();
}

void CachingAllocator::release_cached() {
  driver_.synchronize();
  ++statistics_.num_sync_all_streams;
  release_unsplit(large_);
  release_unsplit(small_);
}

void CachingAllocator::release_unsplit(FreeBlocks& pool) {
  for (auto it = pool.begin(); it != pool.end();) {
    Block* block = *it;
    if (block->is_split()) {
      ++it;
      continue;
    }
    it = pool.erase(it);
    driver_.free(block->address);
    ++statistics_.num_device_free;
    statistics_.segment.decrease(block->small, 1);
    statistics_.reserved_bytes.decrease(block->small, counted(block->bytes));
    forget(block);
  }
}

Block* CachingAllocator::new_block(const Block& values) {
  if (unused_.empty()) return &blocks_.emplace_back(values);
  Block* block = unused_.back();
  unused_.pop_back();
  *block = values;
  return block;
}

void CachingAllocator::forget(Block* block) { unused_.push_back(block); }

void CachingAllocator::set_limit(std::optional<std::size_t> bytes) {
  const std::lock_guard lock(mutex_);
  limit_ = bytes;
}

AllocatorStatistics CachingAllocator::statistics() const {
  const std::lock_guard lock(mutex_);
  return statistics_;
}

void CachingAllocator::reset_peaks() {
  const std::lock_guard lock(mutex_);
  statistics_.reset_peaks();
}

void CachingAllocator::throw_out_of_memory(std::size_t requested, std::size_t rounded) {
  ++statistics_.num_ooms;
  OutOfMemory facts;
  facts.device_name = device_name_;
  facts.device_index = device_index_;
  facts.requested_bytes = requested;
  facts.rounded_bytes = rounded;
  facts.segment_bytes = segment_bytes(rounded);
  facts.card = driver_.memory_info();
  facts.limit_bytes = limit_;
  facts.allocated_bytes = static_cast<std::size_t>(statistics_.allocated_bytes.all().current);
  facts.reserved_bytes = static_cast<std::size_t>(statistics_.reserved_bytes.all().current);
  for (const FreeBlocks* pool : {&small_, &large_}) {
    for (const Block* block : *pool) facts.largest_free_block = std::max(facts.largest_free_block, block->bytes);
  }
  throw out_of_memory(facts);
}

}  // namespace labrig
