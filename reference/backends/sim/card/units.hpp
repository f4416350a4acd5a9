// Virtual time: integer picoseconds, never floating point. Amounts divided by rates round up, in 128-bit arithmetic;
// sums stop at the end of time, so that no client can make a clock run backwards.
#pragma once

#include <algorithm>
#include <cstdint>

namespace labrig::sim {

__extension__ using Wide = __int128;

inline constexpr std::int64_t kPsPerSecond = 1'000'000'000'000;
inline constexpr std::int64_t kEndOfTime = std::int64_t{1} << 61;  // 26 days

// `time` + `duration`, both at least 0.
constexpr std::int64_t later(std::int64_t time, std::int64_t duration) {
  return std::min(kEndOfTime, std::min(kEndOfTime, time) + std::min(kEndOfTime, duration));
}

// How long `amount` takes at `per_second`, rounded up.
constexpr std::int64_t ps_for(std::uint64_t amount, std::int64_t per_second) {
  const Wide ps = (Wide{amount} * kPsPerSecond + per_second - 1) / per_second;
  return ps > Wide{kEndOfTime} ? kEndOfTime : static_cast<std::int64_t>(ps);
}

}  // namespace labrig::sim
