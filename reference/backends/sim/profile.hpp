// A card profile: how large and how fast a simulated card and its host are. Read from TOML (reference/profiles/*.toml);
// integers only, with the unit in the name. Unknown, missing and misplaced keys are errors with file, line and column.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "labrig/dtype.hpp"
#include "labrig/error.hpp"
#include "labrig/export.hpp"

namespace labrig::sim {

struct CopyRates {
  std::int64_t latency_ps = 0;
  std::int64_t pinned_bytes_per_s = 0;
  std::int64_t inline_bytes_per_s = 0;  // pageable, up to 64 KiB
  std::int64_t staged_bytes_per_s = 0;  // pageable, larger: the host's copy into or out of the staging buffer
  std::int64_t staged_fixed_ps = 0;     // and what the host pays once for it
};

// From `at_ps` of the virtual clock on, other processes hold `bytes` of the card.
struct OtherProcesses {
  std::int64_t at_ps = 0;
  std::uint64_t bytes = 0;
};

// The newest form of profiles that this labrig reads; docs/profiles.md says what each version brought.
inline constexpr std::int64_t kProfileVersion = 2;

struct Profile {
  std::string name;
  std::int64_t version = kProfileVersion;
  int compute_capability_major = 0, compute_capability_minor = 0;
  bool bf16 = false, tf32 = false;

  std::uint64_t capacity_bytes = 0;
  std::uint64_t other_processes_bytes = 0;               // at the start
  std::vector<OtherProcesses> other_processes_schedule;  // and from then on; by time, each later than the one before
  // What other processes hold at a time of the virtual clock.
  std::uint64_t other_processes_bytes_at(std::int64_t time_ps) const {
    std::uint64_t bytes = other_processes_bytes;
    for (const OtherProcesses& entry : other_processes_schedule) {
      if (entry.at_ps > time_ps) break;
      bytes = entry.bytes;
    }
    return bytes;
  }

  std::array<std::int64_t, kDtypeCount> flops_per_s{};         // by Dtype; elementwise arithmetic
  std::array<std::int64_t, kDtypeCount> matrix_flops_per_s{};  // by Dtype; matmul
  std::int64_t memory_bytes_per_s = 0;

  std::int64_t kernel_fixed_ps = 0;    // on the card, every kernel
  std::int64_t kernel_gap_ps = 0;      // between two kernels of a stream
  std::int64_t launch_latency_ps = 0;  // from submission until the card can start it
  std::int64_t launch_host_ps = 0;     // the host's cost of submitting

  CopyRates up, down;
  std::int64_t copy_host_ps = 0;                                     // the host's cost of submitting a copy
  std::int64_t both_ways_numerator = 7, both_ways_denominator = 10;  // rate of each direction while both are busy
  std::int64_t within_bytes_per_s = 0;                               // copies inside the card

  std::int64_t sync_ps = 0, event_ps = 0, query_ps = 0;
  std::int64_t malloc_ps = 0, malloc_ps_per_mib = 0, free_ps = 0;
  std::int64_t pin_ps = 0, pin_ps_per_mib = 0;

  std::int64_t host_flops_per_s = 0, host_bytes_per_s = 0, host_call_ps = 0;
  int host_threads = 1;
  std::int64_t host_spread_ps = 0;  // what it takes to spread work over all threads
  std::int64_t queue_depth = 1024;
};

// `text` is the TOML; `file` names it in errors.
LABRIG_API Result<Profile> parse_profile(std::string_view text, const std::string& file);
// A profile by name: a path ending in .toml, or a name looked up in LABRIG_PROFILES, then beside the program
// (../profiles, ../share/labrig/profiles). Error `unknown-profile` lists what there is.
LABRIG_API Result<Profile> load_profile(const std::string& name_or_path);
LABRIG_API std::vector<std::string> profile_names();

}  // namespace labrig::sim
