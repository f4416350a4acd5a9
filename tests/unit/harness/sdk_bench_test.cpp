// labrig::bench(): what it runs and what it answers. No test looks at a measured time.
#include <gtest/gtest.h>

#include <stdexcept>

#include "backends/sim/machine.hpp"
#include "device/backend.hpp"
#include "labrig/bench.hpp"
#include "labrig/ops.hpp"

namespace labrig {
namespace {

sim::MachineOptions one_card() {
  sim::MachineOptions options;
  options.cards = {sim::load_profile("desktop").value()};
  options.data = false;
  return options;
}

TEST(BenchFunction, TellsVirtualTimesOnASimulatedCard) {
  const sim::InProcessMachine machine(one_card());
  const Tensor x = empty({512, 512}, Device("sim"));
  const BenchResult result = bench([&] { matmul(x, x); }, Device("sim"));
  ASSERT_TRUE(result.compute.has_value());
  EXPECT_TRUE(result.is_virtual);
  EXPECT_EQ(result.device, Device("sim:0"));
  EXPECT_EQ(result.compute->samples, 1);
  EXPECT_EQ(result.compute->low_ms, result.compute->high_ms);
  EXPECT_GT(result.compute->median_ms, result.empty_event_pair_ms);
  EXPECT_GT(result.end_to_end.median_ms, result.compute->median_ms) << "launching and waiting are in it";
  EXPECT_EQ(bench_compute([&] { matmul(x, x); }, Device("sim")).median_ms, result.compute->median_ms);
  for (const char* part : {"on sim:0, on its virtual clock", "compute", "end to end", "two events"})
    EXPECT_NE(result.str().find(part), std::string::npos) << result.str();
}

TEST(BenchFunction, DividesASampleByItsRuns) {
  const sim::InProcessMachine machine(one_card());
  Backend& host = backend_of(Device("sim"));
  const auto work = [&] { host.host_work({0, 300'000'000}); };
  const double one = bench_end_to_end(work, Device("sim"), {.work_waits = true}).median_ms;
  const double ten = bench_end_to_end(work, Device("sim"), {.runs_per_sample = 10, .work_waits = true}).median_ms;
  EXPECT_NEAR(ten, one, 1e-6);
}

TEST(BenchFunction, RepeatsAfterAWarmUpOnTheHostAndHasNoEventsThere) {
  int runs = 0;
  const BenchResult result = bench([&] { ++runs; }, Device("cpu"), {.warm_ups = 2, .most_samples = 7});
  EXPECT_EQ(runs, 2 + 7);
  EXPECT_EQ(result.end_to_end.samples, 7);
  EXPECT_LE(result.end_to_end.low_ms, result.end_to_end.median_ms);
  EXPECT_LE(result.end_to_end.median_ms, result.end_to_end.high_ms);
  EXPECT_FALSE(result.compute.has_value());
  EXPECT_FALSE(result.is_virtual);
  EXPECT_NE(result.str().find("on cpu, measured"), std::string::npos);
}

TEST(BenchFunction, ThrowsWhatTheWorkThrowsAndCanBeUsedAgain) {
  int runs = 0;
  const auto fails_later = [&] {
    if (++runs == 5) throw std::out_of_range("the fifth");
  };
  EXPECT_THROW(bench(fails_later, Device("cpu")), std::out_of_range);
  EXPECT_EQ(runs, 5);
  EXPECT_EQ(bench([] {}, Device("cpu")).end_to_end.samples, 25);
}

}  // namespace
}  // namespace labrig
