// Numbers as people read them, and the exact value beside.
#include "units.hpp"

#include <gtest/gtest.h>

#include <limits>

namespace labrig::reports {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

TEST(Units, ShowThreeDigitsOfBytesAndTimes) {
  EXPECT_EQ(bytes_text(0), "0 B");
  EXPECT_EQ(bytes_text(512), "512 B");
  EXPECT_EQ(bytes_text(1572864), "1.50 MiB");
  EXPECT_EQ(bytes_text(1024.0 * 1024 * 1024 * 37), "37.0 GiB");
  EXPECT_EQ(time_text(0), "0");
  EXPECT_EQ(time_text(2'410'000'000.0), "2.41 ms");
  EXPECT_EQ(time_text(999'999'999.0), "1.00 ms");
  EXPECT_EQ(time_text(12), "12 ps");
}

TEST(Units, GroupDigitsOfCounts) {
  EXPECT_EQ(count_text(0), "0");
  EXPECT_EQ(count_text(999), "999");
  EXPECT_EQ(count_text(1234567), "1,234,567");
  EXPECT_EQ(count_text(-1234), "-1,234");
  EXPECT_EQ(count_text(0.25), "0.25");
  EXPECT_EQ(count_text(kInfinity), "∞");
}

TEST(Units, ShowPointsToOneTenthWithoutZeros) {
  EXPECT_EQ(points_text(60), "60");
  EXPECT_EQ(points_text(67.5), "67.5");
  EXPECT_EQ(points_text(0), "0");
}

TEST(Units, ShowRatiosAndInfinity) {
  EXPECT_EQ(ratio_text(1), "1.00×");
  EXPECT_EQ(ratio_text(12.34), "12.3×");
  EXPECT_EQ(ratio_text(kInfinity), "∞");
}

TEST(Units, KeepEveryDigitInTheExactValue) {
  EXPECT_EQ(exact(1572864, "bytes"), "1,572,864 bytes");
  EXPECT_EQ(exact(7, ""), "7");
  EXPECT_EQ(human(1500, "flops"), "1.50 kflop");
  EXPECT_EQ(human(3, "batches"), "3 batches");
}

TEST(MetricInfo, KnowsEachMetricOnceAndGuessesUnitsOfOthers) {
  EXPECT_EQ(metric_info("h2d_bytes").label, "bytes up");
  EXPECT_EQ(metric_info("budget_bytes").unit, "bytes");
  EXPECT_EQ(metric_info("budget_bytes").label, "budget");
  EXPECT_EQ(metric_info("wait_ps").unit, "ps");
  EXPECT_EQ(metric_info("decisions_made").label, "decisions made");
  EXPECT_EQ(metric_info("decisions_made").unit, "");
}

}  // namespace
}  // namespace labrig::reports
