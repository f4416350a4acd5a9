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

inline std::int64_t cpu_limit_ms(const spec::Limits& limits) { return limits.cpu_ms * kSlowdown; }
inline std::int64_t wall_limit_ms(const spec::Limits& limits) { return cpu_limit_ms(limits) * kWallPerCpu; }

// The most CPU time that a worker may take for what the core's operators do not explain: 3 x the reference's + 0.5 s.
inline double host_work_limit_ms(double reference_cpu_ms) {
  return (3 * reference_cpu_ms + 500) * static_cast<double>(kSlowdown);
}

}  // namespace labrig::supervisor
