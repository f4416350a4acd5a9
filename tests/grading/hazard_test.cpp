// Ordering, from a submission with two streams to its report.
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>

#include "grade_toy.hpp"

namespace labrig::test {
namespace {

using nlohmann::json;

struct Ordered {
  json report, student;
  std::string html, student_html, console;
};

Ordered grade_ordered(const std::string& name) {
  const Scratch scratch;
  const std::string plugin = std::string(LABRIG_BUILD) + "/tests/plugins/two-streams/" + name + ".labrig.so";
  const Outcome outcome =
      run_labrig(with_toy_labs({"grade", plugin, "--lab", "two-streams", "--seed", "7", "--out", scratch / "out"}));
  const auto text = [&](const std::string& file) {
    std::ifstream stream(scratch / ("out/" + file));
    return std::string(std::istreambuf_iterator<char>(stream), {});
  };
  return {read_json(scratch / "out/report.json"), read_json(scratch / "out/report.student.json"), text("report.html"),
          text("report.student.html"), outcome.text};
}

TEST(Ordering, OfASubmissionThatWaitsIsClean) {
  const Ordered graded = grade_ordered("solution");
  EXPECT_EQ(graded.report.at("score"), 100) << graded.console;
  for (const json& one : graded.report.at("cases")) {
    EXPECT_EQ(one.at("status"), "ok") << one.at("reason");
    EXPECT_TRUE(one.at("hazards").empty()) << one.at("hazards");
    EXPECT_EQ(one.at("metrics").at("hazards"), 0);
  }
}

TEST(Ordering, OfAMissingWaitIsAHazardThatNamesBothOperations) {
  const Ordered graded = grade_ordered("no_wait_for_the_copy");
  const json& one = graded.report.at("cases").at(0);
  EXPECT_EQ(one.at("status"), "hazard") << graded.console;
  EXPECT_EQ(one.at("reason").at("code"), "unordered-read");
  ASSERT_FALSE(one.at("hazards").empty());
  const json& hazard = one.at("hazards").at(0);
  EXPECT_EQ(hazard.at("buffer"), "there");
  EXPECT_GE(hazard.at("count"), 1);
  EXPECT_EQ(hazard.at("bytes"), 4000);
  EXPECT_NE(hazard.at("earlier").at("stream"), hazard.at("later").at("stream"));
  EXPECT_GE(one.at("metrics").at("hazards"), 1);
  for (const std::string& text : {one.at("reason").at("text").get<std::string>(), graded.html, graded.console}) {
    EXPECT_NE(text.find("copy"), std::string::npos) << text.substr(0, 2000);
    EXPECT_NE(text.find("add"), std::string::npos);
    EXPECT_NE(text.find("there"), std::string::npos);
  }
}

// Nothing of the submission reads the result: the harness does, as soon as it is returned.
TEST(Ordering, OfAResultThatIsReturnedInFlightIsAHazardWithItsCopy) {
  const Ordered graded = grade_ordered("no_wait_for_the_result");
  const json& one = graded.report.at("cases").at(0);
  EXPECT_EQ(one.at("status"), "hazard") << graded.console;
  EXPECT_EQ(one.at("reason").at("code"), "host-read-in-flight");
  EXPECT_EQ(one.at("metrics").at("hazards"), 1);
  ASSERT_FALSE(one.at("hazards").empty());
  EXPECT_EQ(one.at("hazards").at(0).at("earlier").at("what"), "copy 'download sum'");
  EXPECT_EQ(one.at("hazards").at(0).at("later").at("stream"), nullptr);
  EXPECT_NE(graded.console.find("without waiting for copy 'download sum'"), std::string::npos) << graded.console;
  EXPECT_EQ(graded.report.at("score"), 60);
}

TEST(Ordering, OfAResultOfAnotherStreamThatIsLeftOnTheCardIsAHazard) {
  const Ordered graded = grade_ordered("result_left_on_the_card");
  const json& one = graded.report.at("cases").at(0);
  EXPECT_EQ(one.at("status"), "hazard") << graded.console;
  EXPECT_EQ(one.at("reason").at("code"), "unordered-read");
  ASSERT_FALSE(one.at("hazards").empty());
  EXPECT_EQ(one.at("hazards").at(0).at("later").at("what"), "copy 'download sum'");
}

TEST(Ordering, CostsTheOrderingChecksAlone) {
  const Ordered graded = grade_ordered("no_wait_for_the_copy");
  EXPECT_EQ(graded.report.at("score"), 60);
  EXPECT_EQ(graded.report.at("checks").at(0).at("status"), "passed");
  EXPECT_TRUE(graded.report.at("verdict").get<std::string>().ends_with(" 2 of the cases have a hazard: see there."))
      << graded.report.at("verdict");
  EXPECT_EQ(graded.report.at("checks").at(1).at("reason").at("code"), "unordered-read");
}

TEST(Ordering, OfAHiddenCaseIsShownToStudentsWithoutNamesAndSizes) {
  const Ordered graded = grade_ordered("no_wait_for_the_copy");
  const json& one = graded.student.at("cases").at(1);
  ASSERT_EQ(one.at("visibility"), "hidden");
  ASSERT_FALSE(one.at("hazards").empty());
  EXPECT_EQ(one.at("hazards").at(0).at("kind"), "unordered-read");
  EXPECT_EQ(one.at("hazards").at(0).at("text"), "");
  EXPECT_EQ(one.at("hazards").at(0).at("bytes"), 0);
  EXPECT_NE(graded.student_html.find("unordered read: stream"), std::string::npos);
}

}  // namespace
}  // namespace labrig::test
