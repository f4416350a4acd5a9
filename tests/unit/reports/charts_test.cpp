// Timeline, memory, roofline and curves as a case shows them: streams, waits, overlap, hazards, peaks, gaps.
#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "chart_data.hpp"
#include "render.hpp"
#include "samples.hpp"
#include "svg/axis.hpp"
#include "svg/lines.hpp"
#include "svg/memory.hpp"
#include "svg/roofline.hpp"
#include "svg/timeline.hpp"

namespace labrig::reports::svg {
namespace {

using Json = nlohmann::json;

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t n = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++n;
  return n;
}
bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

Trace trace_of(std::vector<Span> spans) {
  Trace trace;
  trace.timeline = std::move(spans);
  for (const Span& span : trace.timeline) trace.end_ps = std::max(trace.end_ps, span.end_ps);
  return trace;
}
Span span(const std::string& lane, std::int64_t stream, double start, double end, const std::string& sync = "") {
  return {lane, lane + " work", stream, start, end, 8, sync};
}

TEST(Rows, AreOneALaneWhileOneStreamIsUsed) {
  const Trace trace = trace_of({span("up", 4, 0, 10), span("compute", 4, 10, 20)});
  ASSERT_EQ(rows_of(trace, lanes()[1], false).size(), 1u);
  EXPECT_EQ(rows_of(trace, lanes()[1], false)[0].label, "Upload engine");
}

TEST(Rows, NameTheOnlyStreamOfOneSideWhereTheOtherHasSeveral) {
  const Trace one = trace_of({span("up", 0, 0, 10), span("compute", 0, 10, 20)});
  const Trace two = trace_of({span("up", 1, 0, 10), span("compute", 0, 10, 20)});
  const Sides sides{&one, &two};
  ASSERT_TRUE(sides.several_streams());
  EXPECT_FALSE((Sides{&one, nullptr}).several_streams());
  const auto rows = rows_of(one, lanes()[1], sides.several_streams());
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0].label, "Upload engine · stream 0");
  EXPECT_TRUE(rows[0].whole);
}

TEST(Rows, AreOneAStreamOfALaneWhenThereAreSeveral) {
  const Trace trace = trace_of({span("up", 3, 0, 10), span("compute", 0, 10, 20), span("compute", 3, 20, 30)});
  const auto compute = rows_of(trace, lanes()[2], true), up = rows_of(trace, lanes()[1], true);
  ASSERT_EQ(compute.size(), 2u);
  EXPECT_EQ(compute[0].label, "Compute engine · stream 0");
  EXPECT_EQ(compute[1].label, "Compute engine · stream 3");
  EXPECT_FALSE(compute[1].holds(trace.timeline[1]));
  ASSERT_EQ(up.size(), 1u);
  EXPECT_EQ(up[0].label, "Upload engine · stream 3");
  EXPECT_TRUE(up[0].whole);
}

TEST(Rows, AreAHandfulHoweverManyStreamsThereAreAndLoseNone) {
  std::vector<Span> spans;
  for (int i = 0; i < 40; ++i) spans.push_back(span("compute", i, i * 10, i * 10 + 9));
  const Trace trace = trace_of(spans);
  std::size_t drawn = 0;
  const auto rows = rows_of(trace, lanes()[2], true);
  for (const Row& row : rows) drawn += spans_of(trace, row, false).size();
  EXPECT_EQ(rows.size(), 5u);
  EXPECT_EQ(drawn, 40u);
  EXPECT_EQ(rows.back().label, "Compute engine · 36 more streams");
}

TEST(Overlap, IsTheTimeInWhichACopyAndAKernelRunAtOnce) {
  const Trace trace = trace_of(
      {span("up", 1, 0, 100), span("compute", 0, 50, 120), span("down", 2, 110, 160), span("compute", 0, 150, 200)});
  const auto both = overlaps_of(trace);
  ASSERT_EQ(both.size(), 3u);
  EXPECT_DOUBLE_EQ(both[0].start_ps, 50);
  EXPECT_DOUBLE_EQ(both[0].end_ps, 100);
  EXPECT_DOUBLE_EQ(total_ps(both), 50 + 10 + 10);
  EXPECT_TRUE(overlaps_of(trace_of({span("up", 0, 0, 9), span("down", 1, 0, 9)})).empty()) << "two copies";
}

TEST(Timeline, ShadesTheOverlapThatTheCardCounted) {
  const Trace trace = trace_of({span("up", 1, 0, 100), span("compute", 0, 50, 120)});
  const Numbers counted = {{"overlap", 48}}, none = {{"overlap", 0}}, little = {{"overlap", 5}};
  const auto picture = [&](const Numbers* metrics) {
    TimelineOptions options;
    options.metrics = metrics;
    return timeline({&trace, nullptr}, "t", options);
  };
  EXPECT_EQ(count(picture(&counted), "class=\"shade\""), 1u);
  EXPECT_TRUE(has(picture(&counted), "48 ps · 40 %"));
  EXPECT_FALSE(has(picture(&none), "Copy and kernel at once")) << "the recording joined spans that took turns";
  EXPECT_EQ(count(picture(&little), "class=\"shade\""), 0u);
  EXPECT_TRUE(has(picture(&little), "in pieces too short to draw"));
}

TEST(Timeline, DrawsWaitsOfTheHostHollowWithAMarkAndTheirCause) {
  const Trace trace = trace_of({span("host", 0, 0, 40, "value"), span("host", 0, 40, 100), span("up", 0, 0, 50)});
  const std::string picture = timeline({&trace, nullptr}, "t", {});
  EXPECT_EQ(count(picture, "class=\"bar wait\""), 1u);
  EXPECT_EQ(count(picture, "class=\"mark flag\""), 1u);
  EXPECT_TRUE(has(picture, "host waits to read a value"));
  EXPECT_TRUE(has(picture, "waits 40 % · works 60 %"));
}

TEST(Timeline, MarksHazardsWithTheirNumbersAndSharesAMarkWhereTheyMeet) {
  std::vector<Hazard> hazards(5);
  hazards[0].time_ps = 500, hazards[2].time_ps = 100, hazards[3].time_ps = 505, hazards[4].time_ps = 5000;
  const auto marks = hazard_marks(hazards, 1000);
  ASSERT_EQ(marks.size(), 3u) << "a hazard without a time has no mark";
  EXPECT_EQ(marks[0].numbers, std::vector<std::size_t>{3});
  EXPECT_EQ(marks[1].numbers, (std::vector<std::size_t>{1, 4}));
  EXPECT_DOUBLE_EQ(marks[2].at, 1) << "beyond the end: at the edge";
  const Trace trace = trace_of({span("up", 0, 0, 1000)});
  TimelineOptions options;
  options.hazards = &hazards;
  const std::string picture = timeline({&trace, &trace}, "t", options);
  EXPECT_EQ(count(picture, "class=\"hazard\""), 3u) << "in the student's run only";
  EXPECT_TRUE(has(picture, ">1, 4</text>"));
}

TEST(Timeline, SaysWhatTheCardCountedNotHowManySpansWereRecorded) {
  const Trace trace = trace_of({span("compute", 0, 0, 100)});
  const Numbers metrics = {{"launches", 41}, {"busy_compute_ps", 30}};
  TimelineOptions options;
  options.metrics = &metrics;
  EXPECT_TRUE(has(timeline({&trace, nullptr}, "t", options), "41 kernels · busy 30 %"));
}

TEST(Timeline, DrawsWhatWasRecordedAsOnePaleLikeJoinedBars) {
  EXPECT_TRUE(recorded_as_one("mul, add, … (4)"));
  for (const char* name : {"f(4)", "f (x)", "f ()", "4)", ""}) EXPECT_FALSE(recorded_as_one(name)) << name;
}

TEST(MemoryCurve, MarksThePeakOfEachSideAndDrawsPinnedOnlyWhereThereIsSome) {
  Trace yours, reference;
  yours.memory = {{0, 10, 20, 0}, {5, 30, 40, 0}, {8, 5, 40, 0}};
  reference.memory = {{0, 10, 20, 0}, {2, 20, 40, 0}};
  yours.end_ps = reference.end_ps = 10;
  const std::string picture = memory_curve({&yours, &reference}, std::nullopt, "m");
  EXPECT_TRUE(has(picture, "peak 30 B at 5 ps"));
  EXPECT_TRUE(has(picture, "reference&#39;s peak 20 B at 2 ps"));
  EXPECT_FALSE(has(picture, "pinned"));
  yours.memory[1].pinned_bytes = 7;
  EXPECT_TRUE(has(memory_curve({&yours, &reference}, std::nullopt, "m"), "class=\"pinned yours\""));
}

TEST(AliveRows, PutBothSidesOfANameBesideEachOther) {
  Trace yours, reference;
  yours.alive = {{"weights", 4096, 2}, {"kept", 1024, 1}};
  reference.alive = {{"weights", 2048, 1}, {"other", 512, 1}};
  const Json rows = alive_rows({&yours, &reference});
  ASSERT_EQ(rows.size(), 3u);
  EXPECT_EQ(rows[0]["yours"], "4.00 KiB in 2");
  EXPECT_EQ(rows[0]["reference_width"], "50%");
  EXPECT_EQ(rows[1]["reference"], "–");
  EXPECT_EQ(rows[2]["name"], "other");
}

Chart chart_of(std::vector<ChartPoint> points, bool logarithmic = false) {
  return {"c",
          "A chart",
          "Read it.",
          {"step", "", logarithmic},
          {"loss", "", logarithmic},
          {{"mine", "yours", std::move(points)}}};
}

TEST(LineChart, BreaksTheLineAtAGapAndMarksIt) {
  const std::string picture = line_chart(chart_of({{1, 4.0}, {2, 3.0}, {3, {}}, {4, 2.0}, {5, 1.0}}), "l");
  const auto path = picture.find("<path class=\"yours\" d=\"");
  ASSERT_NE(path, std::string::npos);
  EXPECT_EQ(count(picture.substr(path, picture.find("/>", path) - path), "M"), 2u);
  EXPECT_EQ(count(picture, "mark gap yours"), 1u);
}

TEST(LineChart, HasNoPlaceForWhatALogarithmicAxisCannotShow) {
  const std::string picture = line_chart(chart_of({{1, 10.0}, {10, 0.0}, {100, -3.0}, {1000, 1000.0}}, true), "l");
  EXPECT_EQ(count(picture, "mark gap yours"), 2u);
  EXPECT_FALSE(has(picture, "nan"));
  EXPECT_FALSE(has(picture, "inf"));
}

TEST(LineChart, TellsLinesApartWithoutColour) {
  Chart chart = chart_of({{1, 1.0}, {2, 2.0}});
  chart.lines.push_back({"theirs", "reference", {{1, 2.0}, {2, 2.0}}});
  chart.lines.push_back({"host", "other", {{1, 3.0}, {2, 2.0}}});
  chart.lines.push_back({"card", "other", {{1, 3.5}, {2, 2.0}}});
  EXPECT_EQ(line_class(chart, 2), "other o0");
  EXPECT_EQ(line_class(chart, 3), "other o1");
  std::set<int> shapes;
  for (std::size_t i = 0; i < 4; ++i) shapes.insert(line_shape(chart, i));
  EXPECT_EQ(shapes.size(), 4u);
  const std::string picture = line_chart(chart, "l");
  for (const char* label : {">mine</text>", ">theirs</text>", ">host</text>", ">card</text>"}) {
    EXPECT_TRUE(has(picture, label)) << label;
  }
}

TEST(LineChart, StaysSmallAndFiniteWhateverItIsGiven) {
  std::vector<ChartPoint> points;
  for (int i = 0; i < 100'000; ++i) points.push_back({i * 1.0, std::sin(i) * 1e300});
  EXPECT_LT(line_chart(chart_of(points), "l").size(), 8000u);
  for (const auto& odd :
       {std::vector<ChartPoint>{}, {{0, {}}}, {{5, 5.0}}, {{1, 0.0}, {1, 0.0}}, {{-1, -1.0}, {0, 1e-320}}}) {
    for (const bool logarithmic : {false, true}) {
      const std::string picture = line_chart(chart_of(odd, logarithmic), "l");
      EXPECT_FALSE(has(picture, "nan") || has(picture, "inf")) << picture;
    }
  }
}

TEST(ChartRows, KeepTheFirstAndTheLastAndAreFew) {
  std::vector<ChartPoint> points;
  for (int i = 1; i <= 100; ++i) points.push_back({i * 1.0, i == 100 ? std::nullopt : std::optional(i * 2.0)});
  const Json rows = chart_rows(chart_of(points), 12);
  ASSERT_EQ(rows.size(), 12u);
  EXPECT_EQ(rows.front()["x"], "1");
  EXPECT_EQ(rows.back()["x"], "100");
  EXPECT_EQ(rows.back()["cells"][0], "none");
}

TEST(Scale, HasDecadesOrRoundSteps) {
  const auto decades = scale_of({3, 40'000}, true, "").ticks();
  ASSERT_EQ(decades.size(), 6u);
  EXPECT_EQ(decades[1].label, "10");
  const auto steps = scale_of({0.13, 1.41}, false, "").ticks();
  EXPECT_EQ(steps.front().label, "0");
  EXPECT_EQ(steps[1].label, "0.5");
}

TEST(Roofline, PlacesARunByItsFlopsPerByteUnderTheCeiling) {
  const Card card{"a card", 1e10, 1e13, 4e13, 1e12, 2e10, 2e10};
  const Numbers run = {{"device_flops", 4e9}, {"device_bytes", 2e9}, {"busy_compute_ps", 4e9}, {"time_ps", 8e9}};
  const auto point = roof_point(run);
  ASSERT_TRUE(point);
  EXPECT_DOUBLE_EQ(point->intensity, 2);
  EXPECT_DOUBLE_EQ(point->kernels_per_s, 1e12);
  EXPECT_DOUBLE_EQ(point->run_per_s, 5e11);
  EXPECT_DOUBLE_EQ(roof_at(card, 2), 2e12) << "under the slope of memory";
  EXPECT_DOUBLE_EQ(roof_at(card, 1000), 1e13) << "under the flat part";
  EXPECT_TRUE(has(roofline(card, run, run, "r"), ">yours and the reference</text>"));
  EXPECT_TRUE(has(roofline(card, run, {}, "r"), ">yours</text>"));
  EXPECT_TRUE(roofline(card, {}, {}, "r").empty());
  EXPECT_TRUE(roofline({}, run, run, "r").empty()) << "a card without figures";
}

TEST(Page, HasTitleDescTableAndHowToReadForEveryChart) {
  for (const char* name : {"solution", "weights-every-batch", "amp", "hazard"}) {
    const std::string page = render_html(test::sample(name));
    for (const auto& [kind, table] :
         {std::pair{"timeline", "Timeline"}, {"memory", "Memory"}, {"roofline", "Roofline"}, {"lines", "Curves"}}) {
      const std::string picture = std::string("<svg class=\"chart ") + kind + "\"";
      EXPECT_EQ(count(page, picture), count(page, std::string(table) + " as a table")) << name << ' ' << kind;
    }
    const auto charts = count(page, "<svg class=\"chart ");
    EXPECT_GE(count(page, "-t\">"), charts) << name;
    EXPECT_GE(count(page, "<desc id="), charts) << name;
    EXPECT_GE(count(page, "How to read this:"), charts) << name;
    EXPECT_LT(page.size(), 500'000u) << name;
  }
}

TEST(Page, NumbersHazardsAsTheirMarksDo) {
  const std::string page = render_html(test::sample("hazard"));
  EXPECT_TRUE(has(page, "<h4>1. host write in flight"));
  EXPECT_TRUE(has(page, "<span data-hazard=\"2\">2 ")) << "alike, so under the first";
  EXPECT_TRUE(has(page, "<title>Hazard 1, 2, at "));
}

TEST(Page, ListsMismatchesWithTheirPatternAndItsCount) {
  const std::string page = render_html(test::sample("hazard"));
  EXPECT_TRUE(has(page, "<b class=\"chip\">stale</b> 18,225 of 18,225 wrong values fit."));
  EXPECT_TRUE(has(page, "18,225 of 20,480 values wrong"));
}

TEST(Page, IsSmallWithoutTraces) {
  for (const char* name : {"solution", "weights-every-batch", "crashed", "amp", "hazard"}) {
    Json report = test::sample(name);
    for (Json& item : report["cases"]) item["trace"] = nullptr;
    EXPECT_LT(render_html(report).size(), 300'000u) << name;
  }
}

TEST(Page, RendersWhateverIsOddInTheFieldsOfACase) {
  const Json whole = test::sample("hazard");
  for (const char* key : {"card", "mismatches", "charts", "trace", "hazards", "metrics", "reference"}) {
    for (const Json& odd :
         {Json(), Json(7), Json("x"), Json::array({1, "x", nullptr, Json::array({1})}), Json::object(),
          Json::array({{{"lines", Json::array({{{"points", Json::array({Json::array({nullptr, 1}), 3})}}})}}})}) {
      Json report = whole;
      report["cases"][0][key] = odd;
      EXPECT_TRUE(has(render_html(report), "</html>")) << key;
    }
  }
}

}  // namespace
}  // namespace labrig::reports::svg
