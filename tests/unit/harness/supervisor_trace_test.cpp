// What a report keeps of a trace that is too long for it: few bars and steps, of the whole call, none of them invented.
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "supervisor/card_facts.hpp"
#include "supervisor/thin_trace.hpp"

namespace labrig::supervisor {
namespace {

using sim::Span;

// Kernels of 2 us with gaps of 1 us, and one pause of 1 ms in the middle.
std::vector<Span> kernels(std::int64_t count) {
  std::vector<Span> bars;
  for (std::int64_t i = 0; i < count; ++i) {
    const std::int64_t start = 3'000'000 * i + (2 * i >= count ? 1'000'000'000 : 0);
    bars.push_back({Span::Lane::compute, 0, 0, start, start + 2'000'000, 0, i % 2 == 0 ? "matmul" : "relu"});
  }
  return bars;
}

TEST(MergedBars, AreThemselvesWhereThereAreFew) {
  const auto bars = merged_bars(kernels(10), 10);
  ASSERT_EQ(bars.size(), 10u);
  EXPECT_EQ(bars[3].name, "relu");
}

TEST(MergedBars, ShowTheWholeCallAndItsPauses) {
  const auto all = kernels(400), bars = merged_bars(all, 20);
  EXPECT_LE(bars.size(), 20u);
  EXPECT_GE(bars.size(), 2u);
  EXPECT_EQ(bars.front().start_ps, all.front().start_ps);
  EXPECT_EQ(bars.back().end_ps, all.back().end_ps);
  EXPECT_EQ(bars.front().name.rfind("matmul, relu (", 0), 0u) << bars.front().name;
  for (const Span& bar : bars)
    EXPECT_FALSE(bar.start_ps < 700'000'000 && bar.end_ps > 1'000'000'000) << "the pause is a gap in the picture";
}

TEST(MergedBars, KeepLanesStreamsAndCausesApartAndAddBytesUp) {
  std::vector<Span> bars;
  for (std::int64_t i = 0; i < 100; ++i) {
    const std::int64_t t = 1000 * i;
    bars.push_back({Span::Lane::up, 0, 0, t, t + 1000, 8, "copy x"});
    bars.push_back({Span::Lane::up, 0, 1, t, t + 1000, 8, "copy y"});
    bars.push_back({Span::Lane::host, 0, 0, t, t + 500, 0, "sync", Span::Wait::asked});
    bars.push_back({Span::Lane::host, 0, 0, t + 500, t + 1000, 0, "sync", Span::Wait::value});
  }
  const auto merged = merged_bars(bars, 10);
  ASSERT_EQ(merged.size(), 4u);
  for (const Span& bar : merged) EXPECT_EQ(bar.name.rfind("100 x ", 0), 0u) << bar.name;
  EXPECT_EQ(merged[0].bytes, 800u);
  EXPECT_EQ(merged[2].wait, Span::Wait::asked);
}

TEST(MergedBars, AreMoreThanWantedRatherThanHideAGapThatCanBeSeen) {
  std::vector<Span> bars;
  for (std::int64_t i = 0; i < 40; ++i) bars.push_back({Span::Lane::up, 0, 0, 1000 * i, 1000 * i + 500, 8, "copy x"});
  EXPECT_EQ(merged_bars(bars, 10).size(), 40u);
}

TEST(ThinnedSteps, KeepThePeakAndTheEnd) {
  std::vector<sim::MemoryPoint> curve;
  for (std::int64_t i = 0; i < 5000; ++i)
    curve.push_back({10 * i, static_cast<std::uint64_t>(i == 3333 ? 999 : i % 7), 0, 0});
  const auto kept = thinned_steps(curve, 64);
  EXPECT_LE(kept.size(), 64u);
  EXPECT_GE(kept.size(), 32u);
  EXPECT_TRUE(std::ranges::any_of(kept, [](const auto& step) { return step.time_ps == 33'330; }));
  EXPECT_EQ(kept.back().time_ps, curve.back().time_ps);
  EXPECT_TRUE(std::ranges::is_sorted(kept, {}, &sim::MemoryPoint::time_ps));
  EXPECT_EQ(thinned_steps(curve, 5000).size(), 5000u);
}

TEST(TraceJson, TellsWaitsPeaksAndWhetherItIsCut) {
  sim::Report report;
  report.timeline = kernels(2);
  report.timeline.push_back({Span::Lane::host, 0, 0, 0, 9, 0, "sync", Span::Wait::implicit});
  report.peak = {7, {{"weights", 64, 2}}};
  const auto trace = trace_json(report);
  EXPECT_FALSE(trace["timeline"][0].contains("sync"));
  EXPECT_EQ(trace["timeline"][2]["sync"], "implicit");
  EXPECT_EQ(trace["peak"].dump(), R"({"time_ps":7,"alive":[{"name":"weights","bytes":64,"count":2}]})");
  EXPECT_EQ(trace["cut"], false);
  report.timeline.clear();
  for (std::int64_t i = 0; i < 500; ++i)  // no two of one row: nothing to merge
    report.timeline.push_back({Span::Lane::up, 0, static_cast<std::uint16_t>(i), i, i + 1, 0, "copy"});
  EXPECT_EQ(trace_json(report)["cut"], true);
  EXPECT_LT(trace_json(report)["timeline"].size(), 200u);
}

TEST(CardRates, AreThoseOfTheProfileWithTheCapacityOfTheCase) {
  spec::Case plan;
  plan.profile = "t4";
  const sim::Profile t4 = sim::load_profile("t4").value();
  const auto card = card_rates_json(plan);
  EXPECT_EQ(card["capacity_bytes"], t4.capacity_bytes);
  EXPECT_EQ(card["memory_bytes_per_s"], t4.memory_bytes_per_s);
  EXPECT_EQ(card["up_bytes_per_s"], t4.up.pinned_bytes_per_s);
  EXPECT_EQ(card["matrix_flops_per_s"], t4.matrix_flops_per_s[static_cast<std::size_t>(kF16)]);
  plan.capacity_mib = 3;
  EXPECT_EQ(card_rates_json(plan)["capacity_bytes"], 3 << 20);
  EXPECT_EQ(card_rates_json(plan)["title"], "t4, 3 MiB, compute capability 7.5");
}

}  // namespace
}  // namespace labrig::supervisor
