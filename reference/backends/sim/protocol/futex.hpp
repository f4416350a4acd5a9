// Sleeping and waking across processes, and how long to spin before that. None of this may change a result.
#pragma once

#include <atomic>
#include <cstdint>

namespace labrig::sim {

// Sleeps while `word` holds `expected`, at most `timeout_ms`; may return early. Works on a read-only page.
void futex_wait(const std::atomic<std::uint32_t>& word, std::uint32_t expected, int timeout_ms);
void futex_wake(const std::atomic<std::uint32_t>& word);

// How many pauses a waiter spins before it sleeps: 2,000 when this process can use two processors or more (affinity
// mask and cgroup quota), else 0. Read once a process; LABRIG_SIM_SPIN overrides.
int spin_budget();

inline void cpu_pause() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#endif
}

}  // namespace labrig::sim
