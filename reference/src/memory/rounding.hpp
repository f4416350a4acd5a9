// How a request grows: first to a block, then, when no free block fits, to a segment. PyTorch's constants.
//
//   request         rounded to           pool    segment asked of the driver
//   up to 1 MiB     a multiple of 512    small   2 MiB
//   below 10 MiB    a multiple of 512    large   20 MiB
//   from 10 MiB     a multiple of 512    large   the size, rounded up to 2 MiB
//
// With `roundup_power2_divisions` of 4, a request of more than 2 KiB grows to the next of four steps between two powers
// of two:   1024 ....... 1280 ....... 1536 ....... 1792 ....... 2048   (MiB, say)
#pragma once

#include <cstddef>

#include "labrig/export.hpp"

namespace labrig {

struct AllocatorSettings;

constexpr std::size_t kMinBlockBytes = 512;
constexpr std::size_t kSmallBytes = std::size_t{1} << 20;          // served by the small pool up to here
constexpr std::size_t kSmallSegmentBytes = std::size_t{2} << 20;   // also the page of a small expandable segment
constexpr std::size_t kLargeSegmentBytes = std::size_t{20} << 20;  // also the page of a large expandable segment
constexpr std::size_t kOwnSegmentBytes = std::size_t{10} << 20;    // from here a request gets a segment of its size
constexpr std::size_t kSegmentRoundingBytes = std::size_t{2} << 20;

// The largest multiple that a size type holds stands in for a result that it does not hold: such a request comes from a
// negative or overflown size and fails like any other that does not fit.
std::size_t round_up_bytes(std::size_t bytes, std::size_t multiple);
LABRIG_API std::size_t rounded_bytes(std::size_t requested, const AllocatorSettings& settings);
LABRIG_API std::size_t segment_bytes(std::size_t rounded);

}  // namespace labrig
