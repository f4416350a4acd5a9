// The fields of a profile, once: section and key in TOML, the member, and the values that make sense. The TOML reader
// and the messages between supervisor and card both walk this list, and a test holds docs/profiles.md against it.
#pragma once

#include <cstdint>
#include <string>

#include "profile.hpp"

namespace labrig::sim {

inline constexpr std::int64_t kMaxProfileBytes = std::int64_t{448} << 30;  // of memory: what fits the address range

// The entries of [[memory.other_processes]].
inline constexpr std::size_t kMaxOtherProcesses = 1000;
inline constexpr std::int64_t kMaxOtherProcessesPs = 86'400'000'000'000'000;  // one day

// Calls visit(section, key, member, least, most) for each field; `name`, which stands outside every section, and the
// schedule of other processes are left out. P is Profile or const Profile; members are int, bool, std::int64_t or
// std::uint64_t.
template <class P, class Visit>
void visit_fields(P& profile, Visit&& visit) {
  constexpr std::int64_t kRate = 1'000'000'000'000'000'000;  // per second
  constexpr std::int64_t kTime = 1'000'000'000'000;          // one second
  constexpr std::int64_t kBytes = kMaxProfileBytes;

  visit("", "version", profile.version, 1, kProfileVersion);

  visit("capability", "major", profile.compute_capability_major, 1, 99);
  visit("capability", "minor", profile.compute_capability_minor, 0, 99);
  visit("capability", "bf16", profile.bf16, 0, 1);
  visit("capability", "tf32", profile.tf32, 0, 1);

  visit("memory", "capacity_bytes", profile.capacity_bytes, 1 << 20, kBytes);
  visit("memory", "other_processes_bytes", profile.other_processes_bytes, 0, kBytes);
  visit("memory", "bytes_per_s", profile.memory_bytes_per_s, 1, kRate);
  visit("memory", "within_bytes_per_s", profile.within_bytes_per_s, 1, kRate);

  for (int i = 0; i < kDtypeCount; ++i) {
    const auto at = static_cast<std::size_t>(i);
    visit("flops_per_s", name_of(static_cast<Dtype>(i)), profile.flops_per_s[at], 1, kRate);
  }
  for (int i = 0; i < kDtypeCount; ++i) {
    const auto at = static_cast<std::size_t>(i);
    visit("matrix_flops_per_s", name_of(static_cast<Dtype>(i)), profile.matrix_flops_per_s[at], 1, kRate);
  }

  visit("kernel", "fixed_ps", profile.kernel_fixed_ps, 0, kTime);
  visit("kernel", "gap_ps", profile.kernel_gap_ps, 0, kTime);
  visit("kernel", "launch_latency_ps", profile.launch_latency_ps, 0, kTime);
  visit("kernel", "launch_host_ps", profile.launch_host_ps, 0, kTime);

  const auto rates = [&](const char* section, auto& copy) {
    visit(section, "latency_ps", copy.latency_ps, 0, kTime);
    visit(section, "pinned_bytes_per_s", copy.pinned_bytes_per_s, 1, kRate);
    visit(section, "inline_bytes_per_s", copy.inline_bytes_per_s, 1, kRate);
    visit(section, "staged_bytes_per_s", copy.staged_bytes_per_s, 1, kRate);
    visit(section, "staged_fixed_ps", copy.staged_fixed_ps, 0, kTime);
  };
  rates("up", profile.up);
  rates("down", profile.down);
  visit("copy", "host_ps", profile.copy_host_ps, 0, kTime);
  visit("copy", "both_ways_numerator", profile.both_ways_numerator, 1, 1000);
  visit("copy", "both_ways_denominator", profile.both_ways_denominator, 1, 1000);

  visit("order", "sync_ps", profile.sync_ps, 0, kTime);
  visit("order", "event_ps", profile.event_ps, 0, kTime);
  visit("order", "query_ps", profile.query_ps, 1, kTime);  // 0 would let a program that polls wait for ever
  visit("order", "queue_depth", profile.queue_depth, 1, 1'000'000);

  visit("driver", "malloc_ps", profile.malloc_ps, 0, kTime);
  visit("driver", "malloc_ps_per_mib", profile.malloc_ps_per_mib, 0, kTime);
  visit("driver", "free_ps", profile.free_ps, 0, kTime);
  visit("driver", "pin_ps", profile.pin_ps, 0, kTime);
  visit("driver", "pin_ps_per_mib", profile.pin_ps_per_mib, 0, kTime);

  visit("host", "flops_per_s", profile.host_flops_per_s, 1, kRate);
  visit("host", "bytes_per_s", profile.host_bytes_per_s, 1, kRate);
  visit("host", "call_ps", profile.host_call_ps, 0, kTime);
  visit("host", "threads", profile.host_threads, 1, 1024);
  visit("host", "spread_ps", profile.host_spread_ps, 0, kTime);  // since version 2
}

}  // namespace labrig::sim
