// The limits of a case as the supervisor uses them, in one place.
#pragma once

#include <cstdint>

#include "spec/lab_spec.hpp"

namespace labrig::supervisor {

// A build with sanitizers is many times slower and maps terabytes of shadow memory.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr std::int64_t kSlowdown = 20;
inline constexpr bool kLimitMemory = false;
#else
inline constexpr std::int64_t kSlowdown = 1;
inline constexpr bool kLimitMemory = true;
#endif

inline constexpr std::int64_t kWallPerCpu = 10;               // wall limits only catch sleepers
inline constexpr std::size_t kFlood = std::size_t{16} << 20;  // bytes printed at which a submission is stopped

// For the card to carry out what a worker that has ended left in its queue, and to report.
inline constexpr int kReportTimeoutMs = 10'000 * static_cast<int>(kSlowdown);

inline std::int64_t cpu_limit_ms(const spec::Limits& limits) { return limits.cpu_ms * kSlowdown; }
inline std::int64_t wall_limit_ms(const spec::Limits& limits) { return cpu_limit_ms(limits) * kWallPerCpu; }

// The most CPU time that a worker may take: 3 x the reference's + 0.5 s, and for each millisecond of the card's clock
// beyond the reference's as much as the core's operators may need for it on a slow host. Work that is charged there
// costs points as time; this limit is for what is charged nowhere.
inline double host_work_limit_ms(double reference_cpu_ms, double extra_virtual_ms) {
  constexpr double kHostPerVirtual = 50;
  return (3 * reference_cpu_ms + 500 + kHostPerVirtual * extra_virtual_ms) * static_cast<double>(kSlowdown);
}

}  // namespace labrig::supervisor
