// The pictures: what they draw from which numbers.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "bands.hpp"
#include "svg/axis.hpp"
#include "svg/bars.hpp"
#include "svg/memory.hpp"
#include "svg/timeline.hpp"

namespace labrig::reports::svg {
namespace {

Trace trace_of(std::vector<Span> spans) {
  Trace trace;
  trace.timeline = std::move(spans);
  for (const Span& span : trace.timeline) trace.end_ps = std::max(trace.end_ps, span.end_ps);
  return trace;
}
Span span(const std::string& lane, const std::string& name, double start, double end, double bytes = 0) {
  return {lane, name, 0, start, end, bytes};
}

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t n = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++n;
  return n;
}

TEST(TimeTicks, AreRoundAndFewAndShareOneUnit) {
  const auto ticks = time_ticks(4.47e9);
  ASSERT_EQ(ticks.size(), 5u);
  EXPECT_EQ(ticks[0].label, "0");
  EXPECT_EQ(ticks[1].label, "1 ms");
  EXPECT_NEAR(ticks[4].at, 4 / 4.47, 1e-9);
  EXPECT_EQ(time_ticks(0).size(), 1u);
}

TEST(ByteTicks, ArePowersOfTwo) {
  const auto ticks = byte_ticks(6.3 * 1024 * 1024);
  ASSERT_EQ(ticks.size(), 4u);
  EXPECT_EQ(ticks[1].label, "2 MiB");
  EXPECT_EQ(ticks[3].label, "6 MiB");
}

TEST(Bars, KeepLongSpansApart) {
  const auto bars = bars_of(trace_of({span("up", "a", 0, 40), span("up", "b", 40, 100)}), "up", 100, 60);
  ASSERT_EQ(bars.size(), 2u);
  EXPECT_EQ(bars[1].name, "b");
  EXPECT_DOUBLE_EQ(bars[1].start, 0.4);
}

TEST(Bars, JoinShortNeighboursAndCountThem) {
  std::vector<Span> spans;
  for (int i = 0; i < 2000; ++i) spans.push_back(span("up", "row", i, i + 0.5, 4));
  const auto bars = bars_of(trace_of(spans), "up", 2000, 60);
  ASSERT_EQ(bars.size(), 1u);
  EXPECT_EQ(bars[0].pieces, 2000u);
  EXPECT_DOUBLE_EQ(bars[0].bytes, 8000);
  EXPECT_DOUBLE_EQ(bars[0].busy_ps, 1000);
  EXPECT_EQ(bars[0].name, "row");
}

TEST(Bars, ForgetTheNameWhenDifferentOnesAreJoined) {
  const auto bars =
      bars_of(trace_of({span("up", "a", 0, 1), span("up", "b", 1, 2), span("up", "c", 900, 1000)}), "up", 1000, 60);
  ASSERT_EQ(bars.size(), 2u);
  EXPECT_EQ(bars[0].name, "");
}

TEST(Bars, StayWithinTheBudgetHoweverManySpansThereAre) {
  std::vector<Span> spans;
  for (int i = 0; i < 4096; ++i) spans.push_back(span("up", "x", i * 10, i * 10 + (i % 7 == 0 ? 9 : 1)));
  EXPECT_LE(bars_of(trace_of(spans), "up", 40960, 12).size(), 12u);
}

TEST(Timeline, ShowsOnlyLanesThatAreUsedAndBothSidesOfThose) {
  const Trace yours = trace_of({span("up", "copy x", 0, 50, 100)}),
              reference = trace_of({span("compute", "matmul", 0, 20)});
  const std::string picture = timeline({&yours, &reference}, "t", {});
  EXPECT_EQ(count(picture, ">Upload engine<"), 2u);
  EXPECT_EQ(count(picture, ">Compute engine<"), 2u);
  EXPECT_EQ(count(picture, ">Download engine<"), 0u);
  EXPECT_NE(picture.find("<title id=\"t-t\">"), std::string::npos);
  EXPECT_NE(picture.find("Your submission: 50 ps."), std::string::npos);
}

TEST(Timeline, EscapesNamesOfOperations) {
  const Trace yours = trace_of({span("up", "</svg><script>", 0, 50)});
  EXPECT_EQ(timeline({&yours, nullptr}, "t", {}).find("<script>"), std::string::npos);
}

TEST(MemoryCurve, KeepsThePeakOfALongRecording) {
  Trace trace;
  for (int i = 0; i < 10000; ++i) trace.memory.push_back({static_cast<double>(i), i == 5000 ? 4096.0 : 1024.0, 4096});
  trace.end_ps = 9999;
  const std::string picture = memory_curve({&trace, nullptr}, std::nullopt, "m");
  EXPECT_LT(picture.size(), 6000u);
  EXPECT_NE(picture.find("at most 4.00 KiB allocated"), std::string::npos);
  // The top of the curve: 16 + (1 - 1 / 1.12) * 134.
  EXPECT_NE(picture.find("V30.36"), std::string::npos);
}

TEST(MemoryCurve, DrawsTheBudgetWhenThereIsOne) {
  Trace trace;
  trace.memory = {{0, 10, 20}, {5, 30, 40}};
  trace.end_ps = 10;
  EXPECT_NE(memory_curve({&trace, nullptr}, 64, "m").find("budget 64 B"), std::string::npos);
  EXPECT_EQ(memory_curve({&trace, nullptr}, std::nullopt, "m").find("class=\"budget\""), std::string::npos);
}

TEST(RatioBands, GiveTheSharesOfTheRatioRule) {
  const double infinity = std::numeric_limits<double>::infinity();
  const std::vector<std::pair<double, double>> rows = {{0.2, 1},  {1.15, 1}, {1.16, 0.75}, {1.5, 0.75},  {2, 0.5},
                                                       {3, 0.25}, {5, 0.1},  {5.01, 0},    {infinity, 0}};
  for (const auto& [ratio, share] : rows) EXPECT_EQ(ratio_share(ratio), share) << ratio;
  for (const auto& [ratio, share] : rows) EXPECT_EQ(count(ratio_bands(ratio, "b"), "band b"), 6u) << ratio;
}

TEST(ScoreBar, DrawsThePassMarkAndStaysInside) {
  EXPECT_NE(score_bar(0.65, true, 0.6, "s").find("x1=\"60%\""), std::string::npos);
  EXPECT_NE(score_bar(7, true, 0.6, "s").find("width=\"100%\" height=\"10\""), std::string::npos);
  EXPECT_EQ(score_bar(0.5, false, std::nullopt, "s").find("<line"), std::string::npos);
}

}  // namespace
}  // namespace labrig::reports::svg
