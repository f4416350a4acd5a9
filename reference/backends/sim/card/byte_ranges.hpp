// Sets of byte ranges, and the pieces of memory that a strided operand touches.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "ops/kernel.hpp"

namespace labrig::sim {

struct ByteRange {
  std::uint64_t start = 0, bytes = 0;
  std::uint64_t end() const { return start + bytes; }
  bool operator==(const ByteRange&) const = default;
};

// Ranges that neither overlap nor touch, in order.
class RangeSet {
 public:
  bool empty() const { return ranges_.empty(); }
  std::size_t pieces() const { return ranges_.size(); }
  void add(const ByteRange& range);
  void remove(const ByteRange& range);
  void clear() { ranges_.clear(); }
  // Its parts within `range`, appended to `parts`.
  void common(const ByteRange& range, std::vector<ByteRange>& parts) const;
  const std::vector<ByteRange>& ranges() const { return ranges_; }

 private:
  std::vector<ByteRange> ranges_;
};

// From the operand's first byte to one past its last; 0 when it has no elements. Only for operands whose extent has
// been checked.
std::uint64_t extent_bytes(const Operand& operand);

inline constexpr std::size_t kMaxRuns = 4096;

// The maximal runs of bytes that the operand's elements cover, in order. False when they are more than kMaxRuns: then
// `runs` holds the one range from the first byte to the last. Only for operands whose extent has been checked; its data
// are an offset.
bool runs_of(const Operand& operand, std::vector<ByteRange>& runs);

}  // namespace labrig::sim
