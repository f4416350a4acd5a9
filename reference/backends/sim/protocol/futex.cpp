// futex(2) and the processors that this process may use.
#include "protocol/futex.hpp"

#include <linux/futex.h>
#include <sched.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <string>

namespace labrig::sim {
namespace {

// Processors that the cgroup's quota pays for, rounded down; a large number without a quota.
int cgroup_processors() {
  std::ifstream file("/sys/fs/cgroup/cpu.max");
  std::string quota;
  long period = 0;
  if (!(file >> quota >> period) || quota == "max" || period <= 0) return 1 << 16;
  return static_cast<int>(std::strtol(quota.c_str(), nullptr, 10) / period);
}

int read_spin_budget() {
  if (const char* text = std::getenv("LABRIG_SIM_SPIN")) return std::max(0, std::atoi(text));
  cpu_set_t mask;
  CPU_ZERO(&mask);
  const int usable = sched_getaffinity(0, sizeof mask, &mask) == 0 ? CPU_COUNT(&mask) : 1;
  return std::min(usable, cgroup_processors()) >= 2 ? 2000 : 0;
}

}  // namespace

void futex_wait(const std::atomic<std::uint32_t>& word, std::uint32_t expected, int timeout_ms) {
  const timespec timeout{timeout_ms / 1000, (timeout_ms % 1000) * 1'000'000L};
  syscall(SYS_futex, &word, FUTEX_WAIT, expected, &timeout, nullptr, 0);
}

void futex_wake(const std::atomic<std::uint32_t>& word) {
  syscall(SYS_futex, &word, FUTEX_WAKE, 1, nullptr, nullptr, 0);
}

int spin_budget() {
  static const int budget = read_spin_budget();
  return budget;
}

}  // namespace labrig::sim
