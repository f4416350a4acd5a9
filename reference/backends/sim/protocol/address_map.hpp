// Where the memory of each card lies in the device range. The range is reserved address space in the worker, and the
// wire carries offsets into it. A card's part is many times its capacity where there is room, because a driver maps
// memory page by page: free bytes in two places serve one large request, and a program reserves ranges of addresses
// that are each larger than the card (expandable segments).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace labrig::sim {

inline constexpr std::uint64_t kGiB = std::uint64_t{1} << 30;
inline constexpr std::uint64_t kMaxRangeBytes = 448 * kGiB;
// Preferred places of the range in the worker; all are usable under plain, ASan and TSan builds.
inline constexpr std::uint64_t kRangeBases[] = {0x7e8000000000, 0x7f0000000000, 0x7d0000000000, 0x600000000000};

class AddressMap {
 public:
  struct Part {
    std::uint64_t start = 0, bytes = 0, capacity_bytes = 0;
  };

  AddressMap() = default;
  // Throws Error `cards-too-large` when they do not fit into the range.
  explicit AddressMap(const std::vector<std::uint64_t>& capacities);

  int cards() const { return static_cast<int>(parts_.size()); }
  const Part& part(int card) const { return parts_[static_cast<std::size_t>(card)]; }
  std::uint64_t total_bytes() const { return total_bytes_; }
  // Addresses that ranges of programs leave to the driver's segments.
  std::uint64_t kept_for_segments(int card) const { return part(card).capacity_bytes / 2; }
  // Whether the part has addresses for the ranges of a stream, one for each of its two pools.
  bool has_pages(int card) const;
  // The card whose part holds `offset`.
  std::optional<int> card_of(std::uint64_t offset) const;
  // "sim:0+0x464": how messages name a device address; "the device range+0x…" between the parts.
  std::string text(std::uint64_t offset) const;

 private:
  std::vector<Part> parts_;
  std::uint64_t total_bytes_ = 0;
};

}  // namespace labrig::sim
