// What a judge's mismatches and charts are in a report: bounded, and valid whatever the numbers are.
#include "supervisor/verdict_json.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "labrig/error.hpp"
#include "labrig/ops.hpp"

namespace labrig::supervisor {
namespace {

lab::Chart chart_of(std::size_t points, const std::string& id = "loss") {
  lab::Chart chart;
  chart.id = id;
  chart.title = "Loss by step";
  chart.x = {"step", "", false};
  chart.y = {"loss", "", true};
  chart.lines = {{"yours", "yours", {}}, {"f32", "reference", {}}};
  for (std::size_t i = 0; i < points; ++i)
    for (auto& line : chart.lines) line.points.emplace_back(static_cast<double>(i), 1.0);
  return chart;
}

TEST(VerdictJson, AMismatchHasItsPatternOrNull) {
  lab::Verdict verdict;
  verdict.require(lab::compare(full({4}, NAN), ones({4}, kF64), 0, 0), "the scores");
  verdict.require(lab::compare(ones({3}), ones({4}, kF64), 0, 0), "the bias");
  const auto json = mismatches_json(verdict);
  ASSERT_EQ(json.size(), 2u);
  EXPECT_EQ(json[0]["what"], "the scores");
  EXPECT_EQ(json[0]["wrong"], 4);
  EXPECT_EQ(json[0]["pattern"], "not-a-number");
  EXPECT_EQ(json[0]["pattern_count"], 4);
  EXPECT_EQ(json[1]["code"], "wrong-shape");
  EXPECT_TRUE(json[1]["pattern"].is_null());
}

TEST(VerdictJson, ALabMayPushMoreMismatchesThanAReportHas) {
  lab::Verdict verdict;
  verdict.mismatches.resize(30);
  EXPECT_EQ(mismatches_json(verdict).size(), 20u);
}

TEST(VerdictJson, WhatIsNotFiniteIsAGap) {
  lab::Verdict verdict;
  verdict.charts.push_back(chart_of(3));
  verdict.charts[0].lines[0].points[1].second = NAN;
  verdict.charts[0].lines[1].points[0].first = INFINITY;
  const auto json = charts_json(verdict);
  EXPECT_EQ(json[0]["lines"][0]["points"].dump(), "[[0.0,1.0],[1.0,null],[2.0,1.0]]");
  EXPECT_EQ(json[0]["lines"][1]["points"].size(), 2u) << "no place on the axis";
  EXPECT_EQ(json[0]["y"].dump(), R"({"label":"loss","unit":"","logarithmic":true})");
}

TEST(VerdictJson, LongCurvesAreThinnedToTheirEnds) {
  lab::Verdict verdict;
  verdict.charts.push_back(chart_of(1'000'001));
  const auto lines = charts_json(verdict)[0]["lines"];
  EXPECT_LE(lines[0]["points"].size() + lines[1]["points"].size(), 2000u);
  EXPECT_GE(lines[0]["points"].size(), 900u);
  EXPECT_EQ(lines[0]["points"].front()[0], 0);
  EXPECT_EQ(lines[0]["points"].back()[0], 1'000'000);
}

TEST(VerdictJson, HasAtMostFourCharts) {
  lab::Verdict verdict;
  for (const char* id : {"a", "b", "c", "d", "e"}) verdict.charts.push_back(chart_of(1, id));
  EXPECT_EQ(charts_json(verdict).size(), 4u);
}

TEST(VerdictJson, AChartThatTheReportHasNoPlaceForIsTheLabsMistake) {
  const auto refused = [](const lab::Chart& chart) {
    lab::Verdict verdict;
    verdict.charts = {chart_of(1), chart};
    try {
      charts_json(verdict);
    } catch (const Error& error) {
      return error.code() == "bad-chart";
    }
    return false;
  };
  EXPECT_FALSE(refused(chart_of(1, "loss-2")));
  EXPECT_TRUE(refused(chart_of(1, "Loss 2")));
  EXPECT_TRUE(refused(chart_of(1, "loss")));
  lab::Chart odd = chart_of(1, "b");
  odd.lines[0].role = "mine";
  EXPECT_TRUE(refused(odd));
}

}  // namespace
}  // namespace labrig::supervisor
