// Which parts of an address space are taken: the driver's segments on a card, and the pinned arena. First fit from the
// lowest address, so that addresses are the same in every run.
#pragma once

#include <cstdint>
#include <map>
#include <optional>

namespace labrig::sim {

class RangeTable {
 public:
  struct Range {
    std::uint64_t start = 0, bytes = 0;
  };

  // Addresses from `start` on.
  RangeTable(std::uint64_t start, std::uint64_t bytes) : start_(start), bytes_(bytes) {}

  // The address of a new range, a multiple of `alignment`; nothing when no gap is large enough.
  std::optional<std::uint64_t> take(std::uint64_t bytes, std::uint64_t alignment);
  // The bytes of the range that starts at `address`, which is free again; nothing when none starts there.
  std::optional<std::uint64_t> give_back(std::uint64_t address);
  // The bytes of the range that starts at `address`.
  std::optional<std::uint64_t> starting(std::uint64_t address) const;
  // The range that holds all of [address, address + bytes).
  std::optional<Range> holding(std::uint64_t address, std::uint64_t bytes) const;
  std::uint64_t taken_bytes() const { return taken_bytes_; }
  std::size_t count() const { return ranges_.size(); }

 private:
  std::uint64_t start_, bytes_;
  std::map<std::uint64_t, std::uint64_t> ranges_;  // start -> bytes
  std::uint64_t taken_bytes_ = 0;
};

}  // namespace labrig::sim
