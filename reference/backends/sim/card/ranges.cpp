// RangeTable: an ordered map of what is taken; gaps are found by walking it.
#include "card/ranges.hpp"

namespace labrig::sim {
namespace {

std::uint64_t round_up(std::uint64_t value, std::uint64_t unit) { return (value + unit - 1) / unit * unit; }

}  // namespace

std::optional<std::uint64_t> RangeTable::take(std::uint64_t bytes, std::uint64_t alignment) {
  if (bytes == 0 || bytes > bytes_) return std::nullopt;
  std::uint64_t candidate = round_up(start_, alignment);
  for (const auto& [start, taken] : ranges_) {
    if (start >= candidate && start - candidate >= bytes) break;
    candidate = round_up(start + taken, alignment);
  }
  if (candidate - start_ > bytes_ - bytes) return std::nullopt;
  ranges_.emplace(candidate, bytes);
  taken_bytes_ += bytes;
  return candidate;
}

std::optional<std::uint64_t> RangeTable::give_back(std::uint64_t address) {
  const auto found = ranges_.find(address);
  if (found == ranges_.end()) return std::nullopt;
  const std::uint64_t bytes = found->second;
  ranges_.erase(found);
  taken_bytes_ -= bytes;
  return bytes;
}

std::optional<std::uint64_t> RangeTable::starting(std::uint64_t address) const {
  const auto found = ranges_.find(address);
  if (found == ranges_.end()) return std::nullopt;
  return found->second;
}

std::optional<RangeTable::Range> RangeTable::holding(std::uint64_t address, std::uint64_t bytes) const {
  auto next = ranges_.upper_bound(address);
  if (next == ranges_.begin()) return std::nullopt;
  const auto [start, taken] = *--next;
  if (bytes > taken || address - start > taken - bytes) return std::nullopt;
  return Range{start, taken};
}

}  // namespace labrig::sim
