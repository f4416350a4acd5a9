// The trace as its viewers read it.
#include <gtest/gtest.h>

#include <random>

#include <cmath>
#include <map>
#include <set>

#include "format_renderers.hpp"
#include "samples.hpp"

namespace labrig::reports::test {
namespace {

using Json = nlohmann::json;
const std::vector<std::string> kAll = {"solution", "weights-every-batch", "crashed", "refused", "hazard", "amp"};

std::vector<Json> events(const Json& report, const std::string& phase) {
  std::vector<Json> out;
  const Json trace = Json::parse(render_chrome_trace(report));
  for (const Json& event : trace.at("traceEvents"))
    if (event["ph"] == phase) out.push_back(event);
  return out;
}

TEST(ChromeTrace, NamesTwoProcessesACaseAndEveryThread) {
  for (const std::string& name : kAll) {
    const Json report = sample(name);
    std::map<std::int64_t, std::string> processes;
    std::set<std::pair<std::int64_t, std::int64_t>> threads;
    for (const Json& event : events(report, "M")) {
      if (event["name"] == "process_name") processes[event["pid"]] = event["args"]["name"];
      if (event["name"] == "thread_name") threads.emplace(event["pid"], event["tid"]);
    }
    EXPECT_EQ(processes.size(), 2 * report["cases"].size());
    for (std::size_t i = 0; i < report["cases"].size(); ++i) {
      const std::string id = report["cases"][i]["id"];
      EXPECT_EQ(processes[static_cast<std::int64_t>(2 * i + 1)], id + ": yours");
      EXPECT_EQ(processes[static_cast<std::int64_t>(2 * i + 2)], id + ": reference");
    }
    for (const char* phase : {"X", "i"})
      for (const Json& event : events(report, phase)) EXPECT_EQ(threads.count({event["pid"], event["tid"]}), 1U);
  }
}

TEST(ChromeTrace, HoldsEverySpanAndPoint) {
  for (const std::string& name : kAll) {
    const Json report = sample(name);
    std::size_t spans = 0, points = 0, hazards = 0, waits = 0;
    for (const Json& one : report["cases"]) {
      hazards += one["hazards"].size();
      if (!one["trace"].is_object()) continue;
      for (const char* whose : {"submission", "reference"}) {
        const Json& trace = one["trace"][whose];
        if (!trace.is_object()) continue;
        spans += trace["timeline"].size();
        points += trace["memory"].size();
        for (const Json& span : trace["timeline"]) waits += span.contains("sync") ? 1 : 0;
      }
    }
    EXPECT_EQ(events(report, "X").size(), spans);
    EXPECT_EQ(events(report, "C").size(), 3 * points);
    EXPECT_EQ(events(report, "i").size(), hazards);
    std::size_t found = 0;
    for (const Json& event : events(report, "X")) found += event["cat"] == "sync" ? 1 : 0;
    EXPECT_EQ(found, waits);
  }
}

TEST(ChromeTrace, LetsNoBarsOfAThreadOverlap) {
  for (const std::string& name : kAll) {
    std::map<std::int64_t, double> ends;
    for (const Json& event : events(sample(name), "X")) {
      const double start = event["ts"], duration = event["dur"];
      EXPECT_GE(start + 1e-6, ends[event["tid"]]);
      ends[event["tid"]] = start + duration;
    }
  }
}

Json with_span(const Json& span) {
  Json report = sample("solution");
  report["cases"] = Json::array({report["cases"][0]});
  report["cases"][0]["trace"] = {{"submission", {{"timeline", {span}}, {"memory", Json::array()}, {"cut", false}}},
                                 {"reference", nullptr}};
  return report;
}

TEST(ChromeTrace, CountsInMicrosecondsToThePicosecond) {
  const Json span = {
      {"lane", "up"},       {"stream", 3},   {"start_ps", 9'000'000'000'000'001}, {"end_ps", 9'000'000'002'000'001},
      {"bytes", 4'000'000}, {"name", "copy"}};
  const std::string text = render_chrome_trace(with_span(span));
  EXPECT_NE(text.find("\"ts\":9000000000.000001,\"dur\":2,"), std::string::npos) << text;
  EXPECT_NE(text.find("\"args\":{\"bytes\":4000000,\"bytes_per_s\":2000000000000}"), std::string::npos) << text;
  EXPECT_NE(text.find("\"upload, stream 3\""), std::string::npos);
}

TEST(ChromeTrace, GivesNoRateWithoutTime) {
  const Json span = {{"lane", "down"}, {"stream", 0}, {"start_ps", 7}, {"end_ps", 7}, {"bytes", 4}, {"name", "copy"}};
  const Json event = events(with_span(span), "X").at(0);
  EXPECT_EQ(event["args"], (Json{{"bytes", 4}}));
  EXPECT_EQ(event["dur"], 0);
}

TEST(ChromeTrace, HasIdsThatADoubleKeeps) {
  const Json span = {{"lane", "up"},    {"stream", INT64_MAX}, {"start_ps", 1e300},
                     {"end_ps", 1e301}, {"bytes", 1e300},      {"name", "copy"}};
  for (const char* phase : {"X", "M"})
    for (const Json& event : events(with_span(span), phase))
      for (const char* id : {"pid", "tid"}) EXPECT_LT(event[id].get<std::uint64_t>(), 1ULL << 53);
}

TEST(ChromeTrace, IsJsonWhateverTheTexts) {
  for (const std::string& text : {hostile_text(), std::string("\",\"ph\":\"B\"}]}\\"), std::string()}) {
    const Json trace = Json::parse(render_chrome_trace(with_every_text(text)));
    const Json plain = Json::parse(render_chrome_trace(with_every_text("x")));
    ASSERT_EQ(trace["traceEvents"].size(), plain["traceEvents"].size());
  }
}

// Nothing of the epoch: what counts from elsewhere is counted from its first moment, and keeps its lengths.
TEST(ChromeTrace, StartsWithTheCallWhateverItsClock) {
  const double epoch = 1715587200123456789e3;
  Json report = with_span(
      {{"lane", "up"}, {"stream", 0}, {"start_ps", epoch}, {"end_ps", epoch + 4e9}, {"bytes", 8}, {"name", "copy"}});
  Json& trace = report["cases"][0]["trace"]["submission"];
  trace["timeline"].push_back(trace["timeline"][0]);
  trace["timeline"][1]["start_ps"] = epoch + 6e9, trace["timeline"][1]["end_ps"] = epoch + 7e9;
  trace["memory"].push_back(
      {{"time_ps", epoch + 1e9}, {"allocated_bytes", 1}, {"reserved_bytes", 2}, {"pinned_bytes", 0}});
  report["cases"][0]["hazards"] = {{{"kind", "unordered-read"}, {"time_ps", epoch + 2e9}}};
  const Json spans = events(report, "X");
  EXPECT_EQ(spans[0]["ts"], 0);
  EXPECT_NEAR(spans[0]["dur"].get<double>(), 4000, 1);
  EXPECT_NEAR(spans[1]["ts"].get<double>(), 6000, 1);
  EXPECT_NEAR(events(report, "C")[0]["ts"].get<double>(), 1000, 1);
  EXPECT_NEAR(events(report, "i")[0]["ts"].get<double>(), 2000, 1);
}

Json random_trace(std::mt19937_64& random) {
  const Json times[] = {0,
                        1,
                        1,
                        999'999,
                        1'000'000,
                        123'456'789'012,
                        9'007'199'254'740'991,
                        9'007'199'254'740'993,
                        -1,
                        1.5,
                        0.4999,
                        1e18,
                        1e300,
                        -1e300,
                        UINT64_MAX,
                        INT64_MIN,
                        5e-324,
                        1e15};
  const Json lanes[] = {"host", "compute", "up", "down", "sideways", ""};
  const Json streams[] = {0, 1, 7, -3, INT64_MAX, UINT64_MAX, 2.0, 1e30};
  const Json names[] = {"matmul", hostile_text(), "\",\"ph\":\"B\"}", "", "a\u2028b", "\x1b[31m", "NaN"};
  const auto any = [&](const auto& list) { return list[random() % std::size(list)]; };
  const bool ordered = random() % 2 == 0;
  Json trace = {{"timeline", Json::array()}, {"memory", Json::array()}, {"cut", random() % 2 == 0}};
  const std::size_t count = random() % 5 == 0 ? 0 : random() % 200;
  for (std::size_t i = 0; i < count; ++i) {
    Json span = {{"lane", any(lanes)}, {"stream", any(streams)}, {"bytes", any(times)}, {"name", any(names)}};
    span["start_ps"] = ordered ? Json(random() % 1000) : any(times);
    span["end_ps"] = ordered ? Json(random() % 1000) : any(times);
    if (random() % 4 == 0) span["sync"] = any(names);
    trace["timeline"].push_back(span);
    if (random() % 3 != 0) continue;
    trace["memory"].push_back({{"time_ps", any(times)},
                               {"allocated_bytes", any(times)},
                               {"reserved_bytes", any(times)},
                               {"pinned_bytes", any(times)}});
  }
  return trace;
}

TEST(ChromeTrace, IsOneWhateverIsInTheReport) {
  std::mt19937_64 random(9);  // NOLINT: the same ones every time
  for (int round = 0; round < 150; ++round) {
    Json report = with_span(nullptr);
    for (const char* whose : {"submission", "reference"}) report["cases"][0]["trace"][whose] = random_trace(random);
    const Json& trace = report["cases"][0]["trace"];
    EXPECT_EQ(events(report, "X").size(),
              trace["submission"]["timeline"].size() + trace["reference"]["timeline"].size());
    std::map<std::int64_t, double> ends;
    for (const char* phase : {"X", "C", "M", "i"})
      for (const Json& event : events(report, phase)) {
        for (const char* id : {"pid", "tid"}) EXPECT_LT(event[id].get<std::uint64_t>(), 1ULL << 53);
        if (event["ph"] == "M") continue;
        const auto start = event["ts"].get<double>();
        EXPECT_TRUE(start >= 0 && start < 1e10) << start;
        EXPECT_TRUE(event["ph"] != "C" || event["args"].at("bytes") >= 0) << event;
        if (event["ph"] != "X") continue;
        EXPECT_TRUE(event["dur"].is_number() && event["dur"] >= 0);
        EXPECT_GE(start + 1e-6, ends[event["tid"]]) << "bars of a thread overlap";
        ends[event["tid"]] = start + event["dur"].get<double>();
        EXPECT_TRUE(event["dur"] > 0 || !event["args"].contains("bytes_per_s")) << event;
      }
    if (HasFailure()) FAIL() << "round " << round;
  }
}

TEST(ChromeTrace, HoldsThousandsOfBarsThatOverlap) {
  Json report = with_span({{"lane", "up"}, {"stream", 0}, {"start_ps", 5}, {"end_ps", 9}, {"bytes", 1}, {"name", "x"}});
  Json& timeline = report["cases"][0]["trace"]["submission"]["timeline"];
  for (int i = 1; i < 5000; ++i) timeline.push_back(timeline[0]);
  EXPECT_EQ(events(report, "X").size(), 5000U);
}

}  // namespace
}  // namespace labrig::reports::test
