// The announced blocks of all cards, or of the pinned arena: which bytes belong to which tensor right now. Every access
// of every command must lie inside one live block; one that does not is answered with the block it missed.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "card/byte_ranges.hpp"
#include "card/names.hpp"
#include "card/violation.hpp"
#include "machine.hpp"
#include "protocol/address_map.hpp"

namespace labrig::sim {

struct Block {
  std::uint64_t id = 0;  // counts up in order of announcement, never used again
  std::uint64_t start = 0;
  std::uint64_t requested_bytes = 0;  // accesses are bounded by these
  std::uint64_t block_bytes = 0;      // and the account counts these
  std::uint32_t name = 0;
  RangeSet undefined;      // bytes that no operation has written since the announcement
  std::uint8_t maker = 0;  // of the kernel that wrote to it first: its number and 1; 0: none did
};

class BlockTable {
 public:
  BlockTable(const AddressMap& map, const NameTable& names) : map_(&map), names_(names) {}
  // Of the pinned arena.
  explicit BlockTable(const NameTable& names) : names_(names), next_id_(kFirstPinnedId) {}

  // False when it overlaps a live block.
  bool announce(std::uint64_t start, std::uint64_t requested_bytes, std::uint64_t block_bytes, std::uint32_t name);
  std::optional<Block> free(std::uint64_t start);
  bool ever_announced() const { return next_id_ != kFirstId && next_id_ != kFirstPinnedId; }
  std::size_t live_count() const { return live_.size(); }
  // The live blocks that start in [start, start + bytes) are no more, as their segment is not.
  struct Total {
    std::uint64_t requested_bytes = 0, block_bytes = 0;
  };
  Total free_all_in(std::uint64_t start, std::uint64_t bytes);

  // What is alive now is what at_peak() tells until the next call, whatever is freed meanwhile. O(1), all calls and
  // frees together.
  void mark_peak();
  // By name, the largest first: at most `most`, the last of which is "others" when there are more.
  std::vector<Peak::Alive> at_peak(std::size_t most) const;

  // The live block with all of [address, address + bytes) in its requested bytes.
  Block* holding(std::uint64_t address, std::uint64_t bytes);
  // The live block that starts there.
  Block* starting(std::uint64_t start);
  // The first live block with bytes in [start, start + bytes).
  const Block* first_in(std::uint64_t start, std::uint64_t bytes) const;
  // Why there is none. `who` is the subject of the sentence: "kernel 'matmul' reads".
  Violation missed(const std::string& who, std::uint64_t address, std::uint64_t bytes) const;
  // Where an address lies, for the report of a fault in the client: the live block around it, else the newest freed
  // one.
  const Block* around(std::uint64_t address) const;
  const Block* freed_around(std::uint64_t address) const;

 private:
  std::string text(std::uint64_t address) const;

  const AddressMap* map_ = nullptr;  // null: the arena
  const NameTable& names_;
  std::map<std::uint64_t, Block> live_;  // by start
  std::deque<Block> freed_;              // the last 4,096, newest at the back
  // Blocks below this number were announced before the peak; those of them that are gone.
  struct Gone {
    std::uint64_t bytes;
    std::uint32_t name;
    std::uint8_t maker;
  };
  std::uint64_t peak_end_id_ = 0;
  std::vector<Gone> freed_since_peak_;
  // No block of one table has the number of one of the other.
  static constexpr std::uint64_t kFirstId = 1, kFirstPinnedId = (std::uint64_t{1} << 63) + 1;
  std::uint64_t next_id_ = kFirstId;
};

}  // namespace labrig::sim
