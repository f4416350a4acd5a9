// Whole machines: the card as a process and as a thread give the same metrics, faults are named, nothing is left
// behind.
#include "backends/sim/machine.hpp"

#include <gtest/gtest.h>
#include <signal.h>

#include <array>
#include <chrono>
#include <filesystem>
#include <thread>

#include "labrig/memory.hpp"
#include "labrig/ops.hpp"
#include "labrig/stream.hpp"
#include "random_program.hpp"
#include "test_worker.hpp"

namespace labrig::sim {
namespace {

Profile profile(const char* name) {
  return load_profile(LABRIG_TEST_PROFILES "/" + std::string(name) + ".toml").value();
}

MachineOptions options(const char* name = "desktop", bool data = true) {
  MachineOptions made;
  made.cards = {profile(name)};
  made.data = data;
  return made;
}

std::size_t open_descriptors() {
  std::size_t count = 0;
  for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) ++count;
  return count;
}

TEST(Machine, BothHomesGiveTheSameReport) {
  for (std::uint32_t seed = 1; seed <= 8; ++seed) {
    Report in_thread;
    {
      InProcessMachine machine(options());
      begin_region();
      run_random_program(seed, false);
      finish_region();
      in_thread = machine.report();
    }
    EXPECT_EQ(in_thread.violation_text, "");
    EXPECT_GT(in_thread.metrics.launches, 10u);
    const std::array<std::array<const char*, 2>, 4> ways = {
        {{"random", nullptr}, {"jitter", "0"}, {"random", "1"}, {"jitter", "5000"}}};
    for (const auto& [program, spin] : ways) {
      CardProcess card(LABRIG_TEST_DEVICE, options());
      Worker worker(card, program, seed, spin);
      EXPECT_EQ(worker.wait().status, 0);
      const auto report = card.report(10'000);
      ASSERT_TRUE(report);
      EXPECT_TRUE(report->finished);
      EXPECT_EQ(to_rows(report->metrics), to_rows(in_thread.metrics)) << "seed " << seed << ", " << program;
      ASSERT_EQ(report->timeline.size(), in_thread.timeline.size());
      for (std::size_t i = 0; i < report->timeline.size(); ++i) {
        EXPECT_EQ(report->timeline[i].name, in_thread.timeline[i].name);
        EXPECT_EQ(report->timeline[i].start_ps, in_thread.timeline[i].start_ps);
        EXPECT_EQ(report->timeline[i].wait, in_thread.timeline[i].wait);
      }
      EXPECT_EQ(report->peak, in_thread.peak);
      EXPECT_FALSE(report->peak.alive.empty());
      EXPECT_EQ(report->memory.size(), in_thread.memory.size());
    }
  }
}

TEST(Machine, ValuesAreThoseOfTheHost) {
  InProcessMachine machine(options());
  const Tensor x = arange(96, Options(kF32)).reshape({8, 12}), w = full({12, 5}, 0.25);
  const auto compute = [](const Tensor& a, const Tensor& b) { return sum(relu(matmul(a, b) - 40.0)).item(); };
  EXPECT_EQ(compute(x.to("sim"), w.to("sim")), compute(x, w));
}

TEST(Machine, ADevicePointerOnTheHostIsNamed) {
  CardProcess card(LABRIG_TEST_DEVICE, options());
  Worker worker(card, "dereference");
  const WorkerEnd end = worker.wait();
  ASSERT_TRUE(WIFSIGNALED(end.status));
  EXPECT_EQ(WTERMSIG(end.status), SIGSEGV);
  const std::string expected =
      "error: device pointer dereferenced on the host: sim:0+0x64 is byte 100 of tensor 'model.layer1.weight' (4096 "
      "bytes)\n"
      "  why: memory of sim:0 is not host memory; only kernels and copies reach it\n"
      "  fix: copy the tensor to the CPU first, or run the computation as an operator on sim:0\n";
  EXPECT_EQ(end.errors.substr(0, expected.size()), expected);
  EXPECT_NE(end.errors.find("  at:\n"), std::string::npos) << "frames follow";
  const auto report = card.report(10'000);
  ASSERT_TRUE(report);
  EXPECT_FALSE(report->finished);
  EXPECT_EQ(report->crash_text, expected);
  EXPECT_EQ(report->violation_code, "");
}

TEST(Machine, ANullPointerIsNotTakenForADevicePointer) {
  CardProcess card(LABRIG_TEST_DEVICE, options());
  Worker worker(card, "null");
  const WorkerEnd end = worker.wait();
  EXPECT_FALSE(WIFEXITED(end.status) && WEXITSTATUS(end.status) == 0);
  const auto report = card.report(10'000);
  ASSERT_TRUE(report);
  EXPECT_EQ(report->crash_text.find("error: the program wrote to memory that it does not have: address 0x10"), 0u);
}

TEST(Machine, AWorkerThatLeavesEarlyIsNotFinished) {
  CardProcess card(LABRIG_TEST_DEVICE, options());
  Worker worker(card, "leave");
  EXPECT_EQ(worker.wait().status, 0);
  const auto report = card.report(10'000);
  ASSERT_TRUE(report);
  EXPECT_FALSE(report->finished);
  EXPECT_EQ(report->last_command, "begin on sim:0, stream 0");
}

TEST(Machine, AWorkerThatBreaksTheProtocolIsKilled) {
  CardProcess card(LABRIG_TEST_DEVICE, options());
  Worker worker(card, "scribble");
  const WorkerEnd end = worker.wait();
  ASSERT_TRUE(WIFSIGNALED(end.status));
  EXPECT_EQ(WTERMSIG(end.status), SIGKILL);
  const auto report = card.report(10'000);
  ASSERT_TRUE(report);
  EXPECT_EQ(report->violation_code, "protocol-error");
}

TEST(Machine, ACardThatDiesIsNoReport) {
  CardProcess card(LABRIG_TEST_DEVICE, options());
  kill(card.pid(), SIGKILL);
  EXPECT_EQ(card.report(10'000), std::nullopt);
}

TEST(Machine, ACardWithoutAnswerRunsOutOfTime) {
  CardProcess card(LABRIG_TEST_DEVICE, options());
  EXPECT_EQ(card.report(50), std::nullopt) << "its client has neither come nor gone";
}

TEST(Machine, AProgramThatIsNotThereIsAnError) {
  try {
    const CardProcess card("/nowhere/labrig-device", options());
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), "card-not-started");
  }
}

TEST(Machine, TwoHundredCardsLeaveNothingBehind) {
  {
    const CardProcess warm(LABRIG_TEST_DEVICE, options());
  }
  const std::size_t before = open_descriptors();
  for (int i = 0; i < 200; ++i) {
    CardProcess card(LABRIG_TEST_DEVICE, options());
    if (i % 20 == 0) {
      Worker worker(card, "leave");
      worker.wait();
      EXPECT_TRUE(card.report(10'000));
    }
  }
  EXPECT_EQ(open_descriptors(), before);
  EXPECT_EQ(waitpid(-1, nullptr, WNOHANG), -1) << "a child is left";
}

TEST(Machine, ManyMachinesInOneProcessLeaveNothingBehind) {
  {
    const InProcessMachine warm(options("tiny-256mib"));
  }
  const std::size_t before = open_descriptors();
  for (int i = 0; i < 50; ++i) {
    InProcessMachine machine(options("tiny-256mib"));
    EXPECT_EQ(full({4, 4}, 2, Device("sim")).cpu().data<float>()[3], 2.0f);
  }
  EXPECT_EQ(open_descriptors(), before);
}

TEST(Machine, ASmallCardRunsOutOfMemory) {
  InProcessMachine machine(options("tiny-256mib"));
  EXPECT_EQ(mem_get_info(Device("sim")).total_bytes, std::size_t{256} << 20);
  std::vector<Tensor> held;
  try {
    for (int i = 0; i < 20; ++i) held.push_back(empty({8, 1024, 1024}, Device("sim")));
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), "out-of-memory");
  }
  EXPECT_EQ(held.size(), 8u);
  EXPECT_EQ(machine.report().violation_text, "") << "running out of memory breaks no rule";
}

TEST(Machine, SeveralCardsHaveTheirOwnMemoryAndClockTogether) {
  MachineOptions two = options();
  two.cards.push_back(profile("tiny-256mib"));
  InProcessMachine machine(two);
  EXPECT_EQ(device_count(DeviceType::sim), 2);
  const Tensor a = full({1024}, 1, Device("sim:0")), b = full({1024}, 2, Device("sim:1"));
  EXPECT_EQ(sum(a).item() + sum(b).item(), 3072);
  EXPECT_EQ(machine.report().metrics.peak_reserved_bytes, std::uint64_t{4} << 20);
}

TEST(Machine, PinnedCopiesAreSeenByTheProgramWhateverTheCardDoes) {
  InProcessMachine machine(options());
  for (int i = 0; i < 50; ++i) {
    const Tensor host = full({1000}, i).pin_memory();
    const Tensor there = host.to("sim", true);
    host.fill_(-1);  // eager mode: the copy is carried out when it is submitted
    Tensor back = empty({1000}, Options().pinned_memory());
    back.copy_(there, true);
    EXPECT_EQ(back.data<float>()[999], static_cast<float>(i));
  }
}

TEST(Machine, CostOnlyHasTheSameMetrics) {
  Metrics metrics[2];
  for (const bool data : {false, true}) {
    InProcessMachine machine(options("desktop", data));
    begin_region();
    const Tensor x = full({512, 512}, 1).to("sim");
    const Tensor host = relu(matmul(x, x)).cpu();
    finish_region();
    metrics[data] = machine.report().metrics;
  }
  EXPECT_EQ(to_rows(metrics[0]), to_rows(metrics[1]));
}

// --- the desktop profile against the figures it stands for (field notes F12, F55)
// -------------------------------------

struct Crossover {
  double host_ms, compute_ms, end_to_end_ms;
};

Crossover crossover(std::int64_t n) {
  const Profile desktop = profile("desktop");
  InProcessMachine machine(options("desktop", false));
  const auto now_ms = [&] { return static_cast<double>(machine.report().metrics.time_ps) / 1e9; };
  const Device card("sim");
  const Tensor a = empty({n, n}), b = empty({n, n}), c = empty({n, n});
  Tensor x = empty({n, n}, card), y = empty({n, n}, card);
  matmul(x, y);  // the allocator is warm, as after a first call
  synchronize(card);
  Crossover times{};
  double start = now_ms();
  Tensor z = matmul(x, y);
  synchronize(card);
  times.compute_ms = now_ms() - start;
  start = now_ms();
  x.copy_(a);
  y.copy_(b);
  z = matmul(x, y);
  c.copy_(z);
  times.end_to_end_ms = now_ms() - start;
  const double flops = 2.0 * static_cast<double>(n) * static_cast<double>(n) * static_cast<double>(n);
  times.host_ms =
      flops / static_cast<double>(desktop.host_flops_per_s) * 1e3 + static_cast<double>(desktop.host_call_ps) / 1e9;
  return times;
}

TEST(DesktopProfile, ReproducesTheCrossoverTable) {
  const std::array<std::pair<std::int64_t, double>, 4> table = {{{64, 0.4}, {256, 1.1}, {1024, 15}, {4096, 30}}};
  for (const auto& [n, ratio] : table) {
    const Crossover times = crossover(n);
    EXPECT_GE(times.host_ms / times.end_to_end_ms, ratio / 1.5) << n;
    EXPECT_LE(times.host_ms / times.end_to_end_ms, ratio * 1.5) << n;
  }
  const Crossover mid = crossover(1024);
  EXPECT_NEAR(mid.host_ms, 20, 2);
  EXPECT_NEAR(mid.compute_ms, 0.4, 0.05);
}

TEST(DesktopProfile, FourMebibytesTakeFourTenthsOfAMillisecondEachWay) {
  InProcessMachine machine(options("desktop", false));
  const auto now_ms = [&] { return static_cast<double>(machine.report().metrics.time_ps) / 1e9; };
  const Tensor host = empty({1024, 1024});
  Tensor there = empty({1024, 1024}, Device("sim"));
  double start = now_ms();
  there.copy_(host);
  EXPECT_NEAR(now_ms() - start, 0.43, 0.07);
  start = now_ms();
  host.copy_(there);
  EXPECT_NEAR(now_ms() - start, 0.43, 0.07);
}

TEST(DesktopProfile, ABlockingDownloadOfAFewBytesTakesFourteenMicroseconds) {
  InProcessMachine machine(options());
  const Tensor there = full({1}, 1, Device("sim"));
  synchronize(Device("sim"));
  const std::int64_t start = machine.report().metrics.time_ps;
  there.item();
  EXPECT_NEAR(static_cast<double>(machine.report().metrics.time_ps - start) / 1e6, 14, 1);
}

}  // namespace
}  // namespace labrig::sim
