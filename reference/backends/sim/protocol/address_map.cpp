// AddressMap: parts are multiples of 1 GiB with 1 GiB of nothing between them.
#include "protocol/address_map.hpp"

#include "labrig/error.hpp"

namespace labrig::sim {
namespace {

std::uint64_t round_to_gib(std::uint64_t bytes) { return (bytes + kGiB - 1) / kGiB * kGiB; }

// A part has at most 8 times, at least once the capacity, in steps of an eighth.
constexpr std::uint64_t kMostEighths = 64, kLeastEighths = 8;

// The parts for so many eighths of the capacities; nothing when they do not fit.
std::optional<std::vector<AddressMap::Part>> lay_out(const std::vector<std::uint64_t>& capacities,
                                                     std::uint64_t eighths) {
  std::vector<AddressMap::Part> parts;
  std::uint64_t start = 0;
  for (const std::uint64_t capacity : capacities) {
    if (capacity > kMaxRangeBytes) return std::nullopt;
    const std::uint64_t bytes = round_to_gib((eighths * capacity + 7) / 8);
    if (start + bytes > kMaxRangeBytes) return std::nullopt;
    parts.push_back({start, bytes, capacity});
    start += bytes + kGiB;
  }
  return parts;
}

}  // namespace

AddressMap::AddressMap(const std::vector<std::uint64_t>& capacities) {
  std::optional<std::vector<Part>> parts;
  for (std::uint64_t eighths = kMostEighths; !parts && eighths >= kLeastEighths; --eighths) {
    parts = lay_out(capacities, eighths);
  }
  if (!parts) {
    throw Error("cards-too-large", "the simulated cards do not fit into the device range",
                "their memory together is more than 448 GiB", "use fewer cards or profiles with less memory");
  }
  parts_ = std::move(*parts);
  if (!parts_.empty()) total_bytes_ = parts_.back().start + parts_.back().bytes;
}

bool AddressMap::has_pages(int card) const {
  const std::uint64_t capacity = part(card).capacity_bytes;
  return part(card).bytes >= 2 * (capacity + capacity / 8) + kept_for_segments(card);
}

std::optional<int> AddressMap::card_of(std::uint64_t offset) const {
  for (int card = 0; card < cards(); ++card) {
    if (offset >= part(card).start && offset - part(card).start < part(card).bytes) return card;
  }
  return std::nullopt;
}

std::string AddressMap::text(std::uint64_t offset) const {
  const auto hex = [](std::uint64_t value) {
    std::string digits;
    do digits.insert(digits.begin(), "0123456789abcdef"[value % 16]);
    while ((value /= 16) != 0);
    return "0x" + digits;
  };
  if (const auto card = card_of(offset)) return "sim:" + std::to_string(*card) + "+" + hex(offset - part(*card).start);
  return "the device range+" + hex(offset);
}

}  // namespace labrig::sim
