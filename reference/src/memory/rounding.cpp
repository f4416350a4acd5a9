#include "memory/rounding.hpp"

#include <bit>
#include <limits>

#include "memory/settings.hpp"

namespace labrig {
namespace {

// The next of `divisions` equal steps between the powers of two around `bytes`.
std::size_t next_division(std::size_t bytes, std::size_t divisions) {
  if (std::has_single_bit(bytes)) return bytes;
  const std::size_t below = std::bit_floor(bytes);
  const std::size_t step = below >> (std::bit_width(divisions) - 1);
  return step == 0 ? below << 1 : round_up_bytes(bytes, step);
}

}  // namespace

std::size_t round_up_bytes(std::size_t bytes, std::size_t multiple) {
  constexpr std::size_t kLargest = std::numeric_limits<std::size_t>::max();
  if (bytes > kLargest - (multiple - 1)) return kLargest / multiple * multiple;
  return (bytes + multiple - 1) / multiple * multiple;
}

std::size_t rounded_bytes(std::size_t requested, const AllocatorSettings& settings) {
  if (requested < kMinBlockBytes) return kMinBlockBytes;
  const std::size_t divisions = settings.divisions_for(requested);
  if (divisions > 1 && requested > kMinBlockBytes * divisions) return next_division(requested, divisions);
  return round_up_bytes(requested, kMinBlockBytes);
}

std::size_t segment_bytes(std::size_t rounded) {
  if (rounded <= kSmallBytes) return kSmallSegmentBytes;
  if (rounded < kOwnSegmentBytes) return kLargeSegmentBytes;
  return round_up_bytes(rounded, kSegmentRoundingBytes);
}

}  // namespace labrig
