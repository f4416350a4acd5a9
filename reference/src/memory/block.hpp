// A block, and the lists in which free blocks wait.
//
//   segment   what the driver gave:   [ block A ][ block B ][ block C            ]
//                                        next --->   next --->
//                                              <--- previous  <--- previous
//
// The blocks of a segment lie side by side and know their neighbours. A whole segment is one block with no neighbours;
// splitting makes a second block behind the first, merging takes it away again.
//
// A free list is kept in the order in which a request looks at it:
//
//   stream 0:  512 B @1000 | 512 B @9000 | 4 KiB @5000      stream 1:  2 MiB @70000
//              smallest first, the lowest address among equals; a stream never looks at another's blocks
//
// Read next: caching_allocator.hpp (who moves blocks between these states).
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <set>
#include <utility>
#include <vector>

namespace labrig {

// A virtual range that grows by pages (expandable.cpp).
struct ExpandableSegment {
  std::byte* address = nullptr;
  std::size_t bytes = 0;
  std::size_t page_bytes = 0;
};

// A piece of a segment. Owned by the allocator; a pointer to an allocated block is its holder's ticket for `free`.
//
//   free  --allocate-->  allocated  --free-->  free
//                            |                  ^ all events done
//                            +--free, when other streams use it-->  awaiting events
struct Block {
  std::byte* address = nullptr;
  std::size_t bytes = 0;
  std::size_t requested = 0;  // what the holder asked for; 0 while free
  std::uint16_t stream = 0;   // the stream it was allocated on; it never serves another
  bool small = false;         // of the small pool
  bool allocated = false;
  bool mapped = true;                // false: addresses of an expandable segment without memory behind them
  bool used_elsewhere = false;       // other streams were recorded (record_stream)
  std::uint32_t pending_events = 0;  // freed, but these events of other streams are not done
  std::uint64_t freed_at = 0;        // look-ups of its pool when it became free (age for garbage collection)
  ExpandableSegment* expandable = nullptr;
  Block* previous = nullptr;  // the neighbours in the same segment
  Block* next = nullptr;

  bool is_split() const { return previous != nullptr || next != nullptr; }
  bool is_active() const { return allocated || pending_events > 0 || used_elsewhere; }
};

struct BestFit {
  bool operator()(const Block* a, const Block* b) const {
    if (a->stream != b->stream) return a->stream < b->stream;
    if (a->bytes != b->bytes) return a->bytes < b->bytes;
    return std::less<>()(a->address, b->address);
  }
};

struct LowestAddress {
  bool operator()(const Block* a, const Block* b) const {
    if (a->stream != b->stream) return a->stream < b->stream;
    return std::less<>()(a->address, b->address);
  }
};

// The free blocks of one pool in the order of a request. Nodes of the tree are kept and used again: most requests take
// one block out and put its rest back.
class FreeList {
 public:
  using Set = std::set<Block*, BestFit>;

  auto begin() const { return blocks_.begin(); }
  auto end() const { return blocks_.end(); }
  // The first block that is not before `key`; a key without address stands before all blocks of its stream and size.
  auto lower_bound(const Block& key) const { return blocks_.lower_bound(const_cast<Block*>(&key)); }
  void insert(Block* block) {
    if (spare_.empty()) {
      blocks_.insert(block);
      return;
    }
    spare_.back().value() = block;
    blocks_.insert(std::move(spare_.back()));
    spare_.pop_back();
  }
  void erase(Set::const_iterator it) { spare_.push_back(blocks_.extract(it)); }
  void erase(Block* block) { spare_.push_back(blocks_.extract(block)); }

 private:
  Set blocks_;
  std::vector<Set::node_type> spare_;
};

struct BlockPool {
  FreeList free;
  std::set<Block*, LowestAddress> unmapped;  // addresses of expandable segments without memory
  std::uint64_t look_ups = 0;                // counted while garbage collection is on
};

}  // namespace labrig
