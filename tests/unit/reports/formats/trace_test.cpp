// The trace as its viewers read it.
#include <gtest/gtest.h>

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

}  // namespace
}  // namespace labrig::reports::test
