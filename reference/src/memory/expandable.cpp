// Expandable segments: one range of addresses for each pool and stream, larger than the card, with memory put behind it
// page by page from the lowest address on. All free blocks of it can merge, so there are no segments to be stuck in.
//
//   addresses   0        20       40       60       80       100 MiB ...              1 1/8 of the card
//               [ tensor A, 30 ][free 10 ][ unmapped ..................................... ]
//   a request of 25 MiB takes the free 10 and maps one more page:
//               [ tensor A, 30 ][ tensor B, 25    ][f 5][ unmapped ....................... ]
#include <algorithm>

#include "memory/caching_allocator.hpp"
#include "memory/rounding.hpp"

namespace labrig {
namespace {

std::int64_t counted(std::size_t bytes) { return static_cast<std::int64_t>(bytes); }

// The page boundary at or after (below: at or before) an address of the segment.
std::byte* page_from(const ExpandableSegment& segment, const std::byte* address) {
  return segment.address + round_up_bytes(static_cast<std::size_t>(address - segment.address), segment.page_bytes);
}
std::byte* page_up_to(const ExpandableSegment& segment, const std::byte* address) {
  return segment.address +
         static_cast<std::size_t>(address - segment.address) / segment.page_bytes * segment.page_bytes;
}

}  // namespace

// A free, mapped block of at least `wanted.bytes`, taken out of its pool. Null when the card has no pages left; what
// was mapped until then stays as free blocks. Where no addresses are left for another range, a segment.
Block* CachingAllocator::take_pages(const Block& wanted) {
  Block* block = find_addresses(wanted);
  if (!block) return take_segment(wanted);
  if (!block->mapped && !map_pages(block, std::min(block->bytes, wanted.bytes))) return nullptr;
  while (block->bytes < wanted.bytes) {  // free, then unmapped
    Block* unmapped = block->next;
    if (!map_pages(unmapped, std::min(wanted.bytes - block->bytes, unmapped->bytes))) return nullptr;
    block = unmapped;  // it has swallowed the free one before it
  }
  pool_of(*block).free.erase(block);
  return block;
}

// The lowest run of free and unmapped blocks of this stream with room for the request; a new range when there is none.
Block* CachingAllocator::find_addresses(const Block& wanted) {
  auto& unmapped = pool_of(wanted).unmapped;
  const auto usable = [](const Block* block) { return block && !block->is_active(); };
  const auto has_room = [&](const Block* block) {
    std::size_t bytes = 0;
    for (; bytes < wanted.bytes && usable(block); block = block->next) bytes += block->bytes;
    return bytes >= wanted.bytes;
  };
  Block key;
  key.stream = wanted.stream;
  for (auto it = unmapped.lower_bound(&key); it != unmapped.end() && (*it)->stream == wanted.stream; ++it) {
    Block* first = usable((*it)->previous) ? (*it)->previous : *it;
    if (has_room(first)) return first;
  }
  const std::size_t page_bytes = wanted.small ? kSmallSegmentBytes : kLargeSegmentBytes;
  const std::size_t card_bytes = driver_.memory_info().total_bytes;
  const std::size_t bytes = round_up_bytes(card_bytes + card_bytes / 8, page_bytes);
  if (bytes < wanted.bytes) return nullptr;
  std::byte* address = driver_.reserve(bytes);
  if (!address) return nullptr;
  Block range = wanted;
  range.address = address;
  range.bytes = bytes;
  range.mapped = false;
  range.expandable =
      expandable_.emplace_back(std::make_unique<ExpandableSegment>(ExpandableSegment{address, bytes, page_bytes}))
          .get();
  Block* block = new_block(range);
  unmapped.insert(block);
  return block;
}

// Puts pages behind the first `bytes` of an unmapped block, which becomes a free one and merges with its neighbours.
bool CachingAllocator::map_pages(Block* block, std::size_t bytes) {
  const ExpandableSegment& segment = *block->expandable;
  const auto mapped = static_cast<std::size_t>(page_from(segment, block->address + bytes) - block->address);
  if (!driver_.map(block->address, mapped)) return false;
  ++statistics_.num_device_alloc;
  statistics_.reserved_bytes.increase(block->small, counted(mapped));
  note(MemoryAction::segment_map, *block, mapped);
  auto& unmapped = pool_of(*block).unmapped;
  unmapped.erase(block);
  if (mapped < block->bytes) unmapped.insert(cut(block, mapped));
  block->mapped = true;
  merge(block, block->previous);
  merge(block, block->next);
  insert_free(block);
  return true;
}

// Takes the whole pages of a free block away; its ends, which share a page with used blocks, stay free. A range without
// any page goes back as a whole.
void CachingAllocator::unmap_pages(Block* block) {
  ExpandableSegment* const segment = block->expandable;
  std::byte* const begin = page_from(*segment, block->address);
  std::byte* const end = page_up_to(*segment, block->address + block->bytes);
  if (begin >= end) return;
  const auto bytes = static_cast<std::size_t>(end - begin);
  BlockPool& pool = pool_of(*block);
  pool.free.erase(block);
  driver_.unmap(begin, bytes, block->stream);
  const auto keep = [&](std::byte* address, std::size_t kept_bytes) {
    Block values = *block;
    values.address = address;
    values.bytes = kept_bytes;
    return new_block(values);
  };
  if (begin > block->address) {
    Block* before = keep(block->address, static_cast<std::size_t>(begin - block->address));
    before->next = block;
    if (before->previous) before->previous->next = before;
    block->previous = before;
    insert_free(before);
  }
  if (std::byte* const last = block->address + block->bytes; last > end) {
    Block* after = keep(end, static_cast<std::size_t>(last - end));
    after->previous = block;
    if (after->next) after->next->previous = after;
    block->next = after;
    insert_free(after);
  }
  block->address = begin;
  block->bytes = bytes;
  block->mapped = false;
  ++statistics_.num_device_free;
  statistics_.reserved_bytes.decrease(block->small, counted(bytes));
  note(MemoryAction::segment_unmap, *block, bytes);
  merge(block, block->previous);
  merge(block, block->next);
  if (block->is_split()) {
    pool.unmapped.insert(block);
    return;
  }
  driver_.give_back(segment->address, segment->bytes);
  forget(block);
  std::erase_if(expandable_, [&](const auto& entry) { return entry.get() == segment; });
}

}  // namespace labrig
