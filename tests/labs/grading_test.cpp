// What a grade must not depend on, and what must not disturb the next one, on lab transfer-cost: load, folder, jobs,
// the way a submission is handed in, the home of the card, misbehaving neighbours.
#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>

#include "report_schema.hpp"
#include "run_labrig.hpp"

namespace labrig::test {
namespace {

using nlohmann::json;

const std::string kLab = "transfer-cost";

// Built for these tests, not shipped.
std::string test_plugin(const std::string& name, const std::string& lab = kLab) {
  return std::string(LABRIG_BUILD) + "/tests/plugins/" + lab + "/" + name + ".labrig.so";
}

json body(const json& report) {
  return {{"score", report.at("score")}, {"checks", report.at("checks")}, {"cases", report.at("cases")}};
}

json graded(const std::string& path, const std::vector<std::string>& more, const std::string& before = "") {
  const Scratch scratch;
  std::vector<std::string> arguments = {"grade", path, "--lab", kLab, "--out", scratch / "out", "--seed", "7"};
  arguments.insert(arguments.end(), more.begin(), more.end());
  const Outcome outcome = run_labrig(arguments, before);
  EXPECT_LE(outcome.exit_code, 1) << outcome.text;
  return read_json(scratch / "out/report.json");
}

TEST(Grading, IsTheSameUnderLoadFromOtherFoldersAndWithOtherJobs) {
  const std::string variant = plugin(kLab, "fetch_every_batch");
  const json expected = body(graded(variant, {}));
  // Two processes that use up both cores, for as long as the gradings take.
  const std::string hogs = "sh -c 'for i in 1 2; do (timeout 60 sh -c \"while :; do :; done\" & echo $!); done'";
  FILE* pipe = popen(hogs.c_str(), "r");
  char text[64] = {};
  std::string pids;
  while (fgets(text, sizeof text, pipe) != nullptr) pids += std::string(text, strcspn(text, "\n")) + " ";
  pclose(pipe);
  const int gradings = std::getenv("LABRIG_TEST_FULL") != nullptr ? 20 : 6;  // six: every pair of jobs and folder
  for (int i = 0; i < gradings; ++i) {
    const std::vector<std::string> jobs = {"--jobs", i % 2 == 0 ? "2" : "1"};
    EXPECT_EQ(body(graded(variant, jobs, i % 3 == 0 ? "cd / && " : "cd /tmp && ")), expected) << "grading " << i;
  }
  EXPECT_EQ(std::system(("kill " + pids + " 2>/dev/null; true").c_str()), 0);
}

TEST(Grading, OfACrashIsTheSameTwiceAndHoldsNoAddressOfACallFrame) {
  const json once = graded(test_plugin("segfault"), {});
  EXPECT_EQ(body(once), body(graded(test_plugin("segfault"), {})));
  const std::string printed = once.at("cases").at(0).at("output").at("text");
  EXPECT_NE(printed.find("at:"), std::string::npos) << printed;
  EXPECT_EQ(printed.find("[0x"), std::string::npos) << printed;
}

TEST(Grading, OfAFolderEqualsThatOfItsBuiltPlugin) {
  const json folder = graded(std::string(LABRIG_SOURCE) + "/labs/01-transfer-cost/solution", {});
  const json built = graded(plugin(kLab, "solution"), {});
  EXPECT_EQ(folder.at("submission").at("source"), "folder");
  EXPECT_EQ(built.at("submission").at("source"), "plugin");
  EXPECT_EQ(body(folder), body(built));
}

TEST(Grading, DoesNotDependOnTheOptimisationOfTheSubmission) {
  const json optimised = graded(plugin(kLab, "solution"), {});
  const json plain = graded(test_plugin("solution_O0"), {});
  EXPECT_EQ(body(optimised), body(plain));
}

TEST(Grading, GivesTheSameMetricsInBothHomesOfTheCard) {
  const Outcome outcome = run_labrig(
      {"check", std::string(LABRIG_SOURCE) + "/labs/01-transfer-cost/solution", "--lab", kLab, "--debug", "--json"});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.text;
  const json inside = json::parse(outcome.text);
  const json outside = graded(plugin(kLab, "solution"), {});
  int compared = 0;
  for (const json& one : inside.at("cases"))
    for (const json& other : outside.at("cases"))
      if (one.at("id") == other.at("id")) {
        EXPECT_EQ(one.at("metrics"), other.at("metrics")) << one.at("id");
        ++compared;
      }
  EXPECT_GE(compared, 3);
}

TEST(Reports, OfEveryEndAreValidAgainstTheirSchema) {
  const std::string refused = std::string(LABRIG_BUILD) + "/broken/plugins/scale/wrong_lab.labrig.so";
  for (const std::string& path :
       {plugin(kLab, "solution"), plugin(kLab, "weights_every_batch"), plugin(kLab, "host_only"),
        test_plugin("segfault"), test_plugin("exits_early"), refused}) {
    SCOPED_TRACE(path);
    const Scratch scratch;
    run_labrig({"grade", path, "--lab", kLab, "--out", scratch / "out"});
    EXPECT_EQ(problems(read_json(scratch / "out/report.json")), "");
    EXPECT_EQ(problems(read_json(scratch / "out/report.student.json")), "");
  }
}

// --- submissions that misbehave ----------------------------------------------------------------------------------
struct Misbehaviour {
  std::string name, code;           // the reason code of a case of kind "score"
  std::string status, phase, says;  // of the case; `says` is part of the reason's text
};

void PrintTo(const Misbehaviour& one, std::ostream* out) { *out << one.name; }

class Misbehaving : public testing::TestWithParam<Misbehaviour> {};

TEST_P(Misbehaving, GetsAReportThatSaysSoInBoundedTimeAndLeavesTheNextRunAlone) {
  const Scratch scratch;
  const auto start = std::chrono::steady_clock::now();
  const Outcome outcome = run_labrig({"grade", test_plugin(GetParam().name), "--lab", kLab, "--out", scratch / "out"});
  EXPECT_EQ(outcome.exit_code, 1) << outcome.text;
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(150));
  const json report = read_json(scratch / "out/report.json");
  EXPECT_FALSE(report.at("passed").get<bool>());
  const json& one = report.at("cases").at(0);
  EXPECT_EQ(one.at("status"), GetParam().status);
  EXPECT_EQ(one.at("phase"), GetParam().phase);
  EXPECT_EQ(one.at("reason").at("code"), GetParam().code);
  EXPECT_NE(one.at("reason").at("text").get<std::string>().find(GetParam().says), std::string::npos)
      << one.at("reason");
  EXPECT_TRUE(std::filesystem::exists(scratch / "out/report.html"));
  EXPECT_EQ(graded(plugin(kLab, "solution"), {}).at("score"), 100.0);
}

INSTANTIATE_TEST_SUITE_P(
    TransferCost, Misbehaving,
    testing::Values(Misbehaviour{"segfault", "crashed", "crashed", "call", "SIGSEGV"},
                    Misbehaviour{"loops", "timed-out", "timed_out", "call", "CPU"},
                    Misbehaviour{"exits_early", "stopped-early", "stopped_early", "load", "exit code 0"},
                    Misbehaviour{"throws_an_int", "exception", "crashed", "call", "int"},
                    Misbehaviour{"prints_a_report", "no-result", "wrong_values", "call", "undefined"},
                    Misbehaviour{"dereferences", "crashed", "crashed", "call", "device pointer dereferenced"},
                    Misbehaviour{"wrong_shape", "wrong-shape", "wrong_values", "call", "shape"}),
    [](const auto& info) { return info.param.name; });

// --- answers that a judge does not expect --------------------------------------------------------------------------
using OddAnswer = std::tuple<const char*, const char*>;  // lab, plugin

class OddAnswers : public testing::TestWithParam<OddAnswer> {};

TEST_P(OddAnswers, AreWrongAndNeverAFaultOfOurs) {
  const auto& [lab, name] = GetParam();
  const Scratch scratch;
  const Outcome outcome = run_labrig({"grade", test_plugin(name, lab), "--lab", lab, "--out", scratch / "out"});
  EXPECT_EQ(outcome.exit_code, 1) << outcome.text;
  const json report = read_json(scratch / "out/report.json");
  for (const json& one : report.at("cases")) EXPECT_NE(one.at("status"), "fault") << one.at("id") << one.at("reason");
  for (const json& check : report.at("checks")) EXPECT_NE(check.at("status"), "fault") << check.at("reason");
}

INSTANTIATE_TEST_SUITE_P(Labs, OddAnswers,
                         testing::Combine(testing::Values("pinned-nonblocking", "oom-triage", "amp", "device-mismatch"),
                                          testing::Values("odd_shape", "odd_type")));

}  // namespace
}  // namespace labrig::test
