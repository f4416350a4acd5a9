// What the student's copy leaves out, and that it keeps the rest.
#include <gtest/gtest.h>

#include "render.hpp"
#include "report_schema.hpp"
#include "samples.hpp"

namespace labrig::reports::test {
namespace {

using Json = nlohmann::json;

Json hidden_case(const Json& report) {
  for (const Json& item : report["cases"]) {
    if (item["visibility"] == "hidden") return item;
  }
  throw std::runtime_error("the sample has no hidden case");
}

TEST(StudentView, LeavesOutSizesSeedTraceAndOutputOfHiddenCases) {
  const Json original = sample("weights-every-batch");
  const Json shown = hidden_case(student_view(original));
  EXPECT_FALSE(hidden_case(original)["parameters"].empty());
  EXPECT_TRUE(shown["parameters"].empty());
  EXPECT_TRUE(shown["seed"].is_null());
  EXPECT_TRUE(shown["trace"].is_null());
  EXPECT_TRUE(shown["output"].is_null());
  EXPECT_EQ(shown["metrics"], hidden_case(original)["metrics"]);
  EXPECT_EQ(shown["status"], hidden_case(original)["status"]);
}

TEST(StudentView, LeavesOutOfHiddenCasesWhatTheirSizesCouldBeReadFrom) {
  Json report = sample("weights-every-batch");
  const std::string text = "3 of 987654 values are wrong; first at [37, 95]: 0.25, expected 0.5";
  const Json mismatch = {{"what", "the scores of batch 18"},
                         {"code", "wrong-values"},
                         {"text", text},
                         {"wrong", 876543},
                         {"total", 987654},
                         {"pattern", "tail"},
                         {"pattern_text", "All 876543 …"},
                         {"pattern_count", 876543}};
  const Json hazard = {{"kind", "unordered-read"},
                       {"text", "2 x 987654"},
                       {"count", 987654},
                       {"buffer", "x of 987654"},
                       {"bytes", 987654},
                       {"time_ps", 987654},
                       {"earlier", {{"what", "987654"}, {"stream", 1}}},
                       {"later", {{"what", "987654"}, {"stream", 2}}}};
  const Json chart = {{"id", "loss"}, {"title", "987654"}};
  for (Json& item : report["cases"]) {
    item["mismatches"] = Json::array({mismatch, mismatch});
    item["mismatches"][1]["what"] = "the scores of batch 19";
    item["hazards"] = Json::array({hazard});
    item["charts"] = Json::array({chart});
  }
  for (Json& item : report["cases"])
    if (item["visibility"] == "visible") item["mismatches"] = item["hazards"] = item["charts"] = Json::array();
  report["checks"][0]["explain"] = {{"evidence", "seen: All 876543 …"}};
  const Json view = student_view(report), shown = hidden_case(view);
  EXPECT_EQ(view.dump().find("987654"), std::string::npos);
  EXPECT_EQ(view.dump().find("876543"), std::string::npos) << "also where a check quotes it";
  EXPECT_EQ(shown["charts"], Json::array());
  EXPECT_FALSE(shown["hazards"][0].contains("time_ps"));
  EXPECT_EQ(shown["hazards"][0]["later"]["stream"], 2);
  ASSERT_EQ(shown["mismatches"].size(), 1u) << "how many there are is a number of rounds";
  EXPECT_EQ(shown["mismatches"][0]["what"], "the scores of batch #");
  EXPECT_EQ(shown["mismatches"][0]["pattern"], "tail");
  EXPECT_EQ(shown["mismatches"][0]["pattern_count"], 0);
}

TEST(StudentView, KeepsVisibleCasesAndTheScore) {
  const Json original = sample("weights-every-batch"), shown = student_view(original);
  EXPECT_EQ(shown["cases"][0], original["cases"][0]);
  EXPECT_EQ(shown["score"], original["score"]);
  EXPECT_EQ(shown["checks"], original["checks"]);
}

TEST(StudentView, KeepsTheCodeOfAHiddenReasonAndTakesItsTextOutEverywhere) {
  Json report = sample("crashed");
  const std::string secret = "3 of 987654 values are wrong; first at [37, 95]: 0.25, expected 0.5";
  for (Json& item : report["cases"]) {
    if (item["visibility"] != "hidden") continue;
    item["status"] = "wrong_values";
    item["reason"] = {{"code", "wrong-values"}, {"text", secret}};
  }
  report["checks"][0]["reason"]["text"] = secret;
  report["checks"][0]["explain"]["evidence"] = "seen: " + secret + ".";
  report["next_step"]["text"] = secret;
  const Json shown = student_view(report);
  EXPECT_EQ(hidden_case(shown)["reason"]["code"], "wrong-values");
  EXPECT_EQ(shown.dump().find("987654"), std::string::npos);
  EXPECT_EQ(shown["checks"][0]["explain"]["evidence"], "seen: (a hidden case: details are not shown).");
}

TEST(StudentView, SaysOfAHiddenCrashNothingThatTheSubmissionChose) {
  Json report = sample("crashed");
  for (Json& item : report["cases"]) {
    if (item["visibility"] != "hidden") continue;
    item["status"] = "crashed";
    item["reason"] = {{"code", "rows-are-72"}, {"text", "x"}};
  }
  report["checks"][0]["reason"]["code"] = "rows-are-72";
  report["checks"][0]["cases"][0]["code"] = "rows-are-72";
  report["verdict"] = "mend first: a call ended with an error (rows-are-72).";
  const Json shown = student_view(report);
  EXPECT_EQ(shown.dump().find("rows-are-72"), std::string::npos) << shown.dump(1);
  EXPECT_EQ(hidden_case(shown)["reason"]["code"], "crashed");
}

TEST(StudentView, TellsNothingThatAnErrorSaysInAHiddenCase) {
  Json report = sample("crashed");
  Json& check = report["checks"][0];
  for (Json& item : report["cases"]) {
    if (item["visibility"] != "hidden") continue;
    item["status"] = "crashed";
    item["reason"] = {{"code", "shape-mismatch"}, {"text", "no match (x is [987654, 3]; take 987654 rows)"}};
    check["explain"]["where"] = item["id"].get<std::string>() + ", during the call";
  }
  check["reason"]["text"] = check["explain"]["what"] = "no match";
  check["explain"]["cause"] = "x is [987654, 3]";
  check["explain"]["next"] = check["explain"]["evidence"] = "take 987654 rows";
  report["next_step"] = {{"check", check["id"]}, {"text", "take 987654 rows"}, {"command", "labrig check ."}};
  const Json shown = student_view(report);
  EXPECT_EQ(shown.dump().find("987654"), std::string::npos) << shown["checks"][0].dump(1);
  EXPECT_NE(shown["next_step"]["text"], "");
  EXPECT_EQ(labrig::test::problems(shown), "");
  for (Json& item : report["cases"])
    item["reason"] = {{"code", "shape-mismatch"}, {"text", "no match (fewer; take 7)"}};
  check["explain"]["next"] = "take 7";
  EXPECT_EQ(student_view(report)["checks"][0]["explain"]["next"], "take 7") << "a visible case says so as well";
}

TEST(StudentView, KeepsATextThatAVisibleCaseSaysAsWell) {
  Json report = sample("crashed");
  for (Json& item : report["cases"])
    item["reason"] = {{"code", "not-written-yet"}, {"text", "score() is not written yet"}};
  report["next_step"]["text"] = "score() is not written yet";
  EXPECT_EQ(student_view(report)["next_step"]["text"], "score() is not written yet");
}

// A submission chooses the code and the text of its own error, and could call them like a word of ours.
TEST(StudentView, KeepsTheWordsThatOthersCompareWith) {
  const Json plain = sample("weights-every-batch");
  for (const char* word : {"passed", "failed", "visible", "bytes-up", "hidden", "0"}) {
    Json report = plain;
    for (Json& item : report["cases"]) {
      if (item["visibility"] != "hidden") continue;
      item["status"] = "crashed";
      item["reason"] = {{"code", word}, {"text", word}};
    }
    const Json shown = student_view(report);
    ASSERT_EQ(shown["checks"].size(), plain["checks"].size());
    for (std::size_t i = 0; i < shown["checks"].size(); ++i)
      for (const char* key : {"id", "status", "visibility", "points", "facts"})
        EXPECT_EQ(shown["checks"][i][key], plain["checks"][i][key]) << word;
  }
}

TEST(StudentView, OfAStudentsCopyIsTheSame) {
  for (const char* name : {"solution", "weights-every-batch", "crashed", "hazard", "amp", "refused"}) {
    const Json once = student_view(sample(name));
    EXPECT_EQ(student_view(once), once) << name;
  }
}

TEST(StudentView, LeavesOutTheTextsOfHiddenChecks) {
  Json report = sample("weights-every-batch");
  report["checks"][1]["visibility"] = "hidden";
  const std::string secret = report["checks"][1]["reason"]["text"];
  const Json shown = student_view(report)["checks"][1];
  EXPECT_EQ(shown["reason"]["text"], "");
  EXPECT_EQ(shown["reason"]["code"], "too-many-bytes");
  EXPECT_TRUE(shown["explain"].is_null());
  EXPECT_EQ(render_html(student_view(report)).find(secret), std::string::npos);
}

TEST(StudentView, RendersWithoutWhatItLeftOut) {
  const Json original = sample("weights-every-batch");
  const std::string seed = hidden_case(original)["seed"];
  EXPECT_NE(render_html(original).find(seed), std::string::npos);
  const std::string page = render_html(student_view(original));
  EXPECT_EQ(page.find(seed), std::string::npos);
  EXPECT_NE(page.find("another-job@desktop"), std::string::npos);
}

}  // namespace
}  // namespace labrig::reports::test
