// A thousand cases in a row, half of them with the card as a process: no memory, descriptor, process, thread or shared
// memory is left behind.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "backends/sim/machine.hpp"
#include "labrig/ops.hpp"
#include "labrig/stream.hpp"
#include "test_worker.hpp"

namespace labrig::sim {
namespace {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr int kCases = 60;  // sanitizers keep freed memory, and count their own
constexpr bool kCountMemory = false;
#else
constexpr int kCases = 1000;
constexpr bool kCountMemory = true;
#endif

std::size_t entries(const char* folder) {
  std::size_t count = 0;
  for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator(folder)) ++count;
  return count;
}

std::size_t shared_mappings() {
  std::ifstream maps("/proc/self/maps");
  std::size_t count = 0;
  for (std::string line; std::getline(maps, line);) count += line.find("memfd:") != std::string::npos;
  return count;
}

std::size_t resident_bytes() {
  std::ifstream file("/proc/self/statm");
  std::size_t total = 0, resident = 0;
  file >> total >> resident;
  return resident * static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
}

MachineOptions options(int i) {
  MachineOptions made;
  made.cards.assign(2, load_profile(LABRIG_TEST_PROFILES "/tiny-256mib.toml").value());
  made.mode = i % 2 == 0 ? Mode::eager : Mode::late;
  return made;
}

// Streams, events, pinned memory, both cards, and tensors that are still there at the end.
void small_case() {
  begin_region();
  const Device card("sim:0");
  const Tensor host = full({2000}, 3, Options().pinned_memory());
  const Stream side = new_stream(card);
  Event copied(card);
  Tensor there = empty({2000}, card);
  {
    const StreamGuard guard(side);
    there.copy_(host, true);
  }
  copied.record(side);
  copied.wait(current_stream(card));
  EXPECT_EQ(sum(there).item(), 6000);
  EXPECT_EQ(mean(there.to("sim:1")).item(), 3);
  finish_region();
}

void in_thread(int i) {
  InProcessMachine machine(options(i));
  small_case();
  EXPECT_EQ(machine.report().violation_text, "");
}

// Card and worker are processes of their own.
void in_process(int i) {
  CardProcess card(LABRIG_TEST_DEVICE, options(i));
  Worker worker(card, "random", static_cast<std::uint64_t>(i));
  const WorkerEnd end = worker.wait();
  EXPECT_EQ(end.status, 0) << end.errors;
  const auto report = card.report(60'000);
  ASSERT_TRUE(report);
  EXPECT_TRUE(report->finished);
  EXPECT_EQ(report->violation_text, "");
}

TEST(ThousandCases, LeaveNothingBehind) {
  const auto run = [](int i) { i % 4 < 2 ? in_thread(i) : in_process(i); };
  for (int i = 0; i < 40; ++i) run(i);  // what is made once is there
  const std::size_t descriptors = entries("/proc/self/fd"), threads = entries("/proc/self/task");
  const std::size_t mappings = shared_mappings(), bytes = resident_bytes();
  for (int i = 0; i < kCases && !HasFailure(); ++i) run(i);
  EXPECT_EQ(entries("/proc/self/fd"), descriptors);
  EXPECT_EQ(entries("/proc/self/task"), threads);
  EXPECT_EQ(shared_mappings(), mappings);
  EXPECT_EQ(waitpid(-1, nullptr, WNOHANG), -1) << "a child is left";
  if (kCountMemory) {
    // 2 KiB a case: the heap settles, and a leak of one tensor or region would be far more.
    EXPECT_LT(resident_bytes(), bytes + (std::size_t{2} << 10) * kCases);
  }
}

}  // namespace
}  // namespace labrig::sim
