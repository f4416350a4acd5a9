// What everything costs on one card, from its profile. Read next: scheduler.hpp (what happens to these durations).
#pragma once

#include <cstdint>

#include "card/units.hpp"
#include "ops/kernel.hpp"
#include "profile.hpp"
#include "protocol/pages.hpp"

namespace labrig::sim {

enum class Route : std::uint8_t {
  pinned,  // the engine reaches the host memory itself
  small,   // pageable, at most kInlineBytes: the bytes travel with the command
  staged,  // pageable, larger: through staging, a chunk at a time
};

class Prices {
 public:
  explicit Prices(const Profile& profile) : profile_(profile) {}
  const Profile& profile() const { return profile_; }

  // A kernel on the compute engine: a fixed cost, then whichever is slower of arithmetic and memory.
  std::int64_t kernel_ps(const KernelCost& cost) const {
    const auto& rates = cost.matrix ? profile_.matrix_flops_per_s : profile_.flops_per_s;
    const std::int64_t arithmetic = ps_for(cost.flops, rates[static_cast<std::size_t>(cost.rate)]);
    return later(profile_.kernel_fixed_ps, std::max(arithmetic, ps_for(cost.bytes, profile_.memory_bytes_per_s)));
  }
  // A copy, or a chunk of one, on its engine.
  std::int64_t copy_ps(const CopyRates& rates, Route route, std::uint64_t bytes) const {
    return later(rates.latency_ps,
                 ps_for(bytes, route == Route::small ? rates.inline_bytes_per_s : rates.pinned_bytes_per_s));
  }
  std::int64_t copy_within_ps(std::uint64_t bytes) const {
    return later(profile_.kernel_fixed_ps, ps_for(bytes, profile_.within_bytes_per_s));
  }
  // The host's copy into or out of staging.
  std::int64_t staging_ps(const CopyRates& rates, std::uint64_t bytes) const {
    return ps_for(bytes, rates.staged_bytes_per_s);
  }
  // An operator on the CPU: a fixed cost, then whichever is slower of memory and arithmetic. Arithmetic is done by one
  // thread, or by all after they have been told, whichever is sooner.
  std::int64_t host_work_ps(std::uint64_t flops, std::uint64_t bytes) const {
    const std::int64_t together = ps_for(flops, profile_.host_flops_per_s);
    const auto alone = static_cast<std::int64_t>(std::min(Wide{together} * profile_.host_threads, Wide{kEndOfTime}));
    return later(profile_.host_call_ps, std::max(std::min(alone, later(profile_.host_spread_ps, together)),
                                                 ps_for(bytes, profile_.host_bytes_per_s)));
  }
  // The operators of a loader's job, added up. Its worker is one thread.
  std::int64_t job_ps(std::uint64_t flops, std::uint64_t bytes, std::uint64_t operators) const {
    const std::int64_t together = ps_for(flops, profile_.host_flops_per_s);
    const Wide alone = Wide{together} * profile_.host_threads, calls = Wide{operators} * profile_.host_call_ps;
    return later(static_cast<std::int64_t>(std::min(calls, Wide{kEndOfTime})),
                 std::max(static_cast<std::int64_t>(std::min(alone, Wide{kEndOfTime})),
                          ps_for(bytes, profile_.host_bytes_per_s)));
  }
  std::int64_t malloc_ps(std::uint64_t bytes) const {
    return with_mib(profile_.malloc_ps, profile_.malloc_ps_per_mib, bytes);
  }
  std::int64_t pin_ps(std::uint64_t bytes) const { return with_mib(profile_.pin_ps, profile_.pin_ps_per_mib, bytes); }

 private:
  static std::int64_t with_mib(std::int64_t fixed_ps, std::int64_t ps_per_mib, std::uint64_t bytes) {
    const Wide ps = (Wide{bytes} * ps_per_mib + (1 << 20) - 1) >> 20;
    return later(fixed_ps, static_cast<std::int64_t>(std::min(ps, Wide{kEndOfTime})));
  }

  Profile profile_;
};

}  // namespace labrig::sim
