// The report: score, verdict, next step, words.
#include <gtest/gtest.h>

#include <set>

#include "grade/grade.hpp"
#include "grade_cases.hpp"

namespace labrig::grade {
namespace {

using Json = nlohmann::ordered_json;
using test::end_case;
using test::perfect_cases;
using test::set_metric;
using test::toy_lab;

const Submission kSubmission = {"mine", std::string(64, 'a'), "folder"};

const Json& check(const Json& report, const std::string& id) {
  for (const Json& item : report.at("checks"))
    if (item.at("id") == id) return item;
  throw std::logic_error("no check " + id);
}

class Report : public testing::Test {
 protected:
  Json report() const { return grade(lab_, cases_, kSubmission); }
  spec::LabSpec lab_ = toy_lab();
  std::vector<CaseOutcome> cases_ = perfect_cases(lab_);
};

TEST_F(Report, OfThePerfectSubmissionHasNothingLeftToDo) {
  const Json r = report();
  EXPECT_EQ(r.at("schema"), "labrig.report/1");
  EXPECT_EQ(r.at("score"), 100);
  EXPECT_EQ(r.at("max_score"), 100);
  EXPECT_EQ(r.at("passed"), true);
  EXPECT_TRUE(r.at("next_step").is_null());
  EXPECT_EQ(r.at("verdict"), "Passed with 100 of 100 points: every check passed.");
  EXPECT_EQ(check(r, "time").at("title"), "Fast");
  EXPECT_TRUE(check(r, "time").at("reason").is_null());
  EXPECT_TRUE(check(r, "time").at("explain").is_null());
  EXPECT_EQ(check(r, "time").at("metrics").at("ratio"), 1);
}

TEST_F(Report, IsTheSameEachTime) { EXPECT_EQ(report().dump(), report().dump()); }

TEST_F(Report, FillsThePlaceholdersFromTheWorstCase) {
  set_metric(cases_[1], "h2d_bytes", 4096);
  const Json r = report();
  const Json& bytes = check(r, "bytes-up");
  EXPECT_EQ(bytes.at("title"), "Many bytes");
  EXPECT_EQ(bytes.at("status"), "partial");
  EXPECT_EQ(bytes.at("points"), 20);
  EXPECT_EQ(bytes.at("reason").at("code"), "too-many-bytes");
  const std::string text = bytes.at("reason").at("text");
  EXPECT_NE(text.find("KiB went up in small@h200; the reference needs 1000 B"), std::string::npos) << text;
  EXPECT_EQ(bytes.at("metrics").at("unit"), "bytes");
  EXPECT_EQ(bytes.at("explain").at("where"), "small@h200");
  EXPECT_EQ(bytes.at("cases").at(1).at("share"), 0);
}

TEST_F(Report, NamesTheEarliestTasksDearestCheckAsTheNextStep) {
  for (std::size_t i = 0; i < 3; ++i) set_metric(cases_[i], "time_ps", 9000);
  EXPECT_EQ(report().at("next_step"), Json({{"check", "time"}, {"text", "g"}, {"command", "labrig check . --task 2"}}));
  set_metric(cases_[0], "h2d_bytes", 9000);  // 10 points, but of task 1
  EXPECT_EQ(report().at("next_step").at("check"), "bytes-up");
}

TEST_F(Report, PutsWhatOthersNeedBeforeThem) {
  lab_.checks[0].points = 10, lab_.checks[1].points = 50;
  for (std::size_t i = 0; i < 3; ++i) end_case(cases_[i], Status::wrong_values, "wrong-values", "3 of 5 are wrong");
  const Json r = report();
  EXPECT_EQ(r.at("next_step").at("check"), "values-right");
  EXPECT_EQ(check(r, "bytes-up").at("explain").at("next"), "mend \"Wrong\" first");
  EXPECT_EQ(r.at("score"), 20);
  EXPECT_EQ(r.at("passed"), false);
  EXPECT_EQ(r.at("verdict"),
            "Below the pass mark of 60 with 20 of 100 points: 1 of 4 checks passed; mend first: Wrong.");
}

TEST_F(Report, SaysWhereACallEnded) {
  end_case(cases_[0], Status::stopped_early, "stopped-early", "ended itself with exit code 0 while loading");
  cases_[0].phase = Phase::load;
  const Json r = report();
  EXPECT_EQ(check(r, "values-right").at("reason").at("code"), "stopped-early");
  EXPECT_EQ(check(r, "values-right").at("explain").at("where"), "small@desktop, while the submission was loaded");
  EXPECT_EQ(r.at("cases").at(0).at("phase"), "load");
  EXPECT_EQ(r.at("next_step").at("text"), "take out exit(), abort() and whatever else ends the process");
}

TEST_F(Report, SaysAboutAnErrorWhatTheErrorSays) {
  end_case(cases_[0], Status::crashed, "shape-mismatch", "the shapes do not match");
  cases_[0].reason->why = "a has 3 columns, and b 4 rows", cases_[0].reason->fix = "transpose b";
  const Json r = report(), &lost = check(r, "values-right");
  EXPECT_EQ(lost.at("reason").at("text"), "the shapes do not match");
  EXPECT_EQ(lost.at("explain").at("cause"), "a has 3 columns, and b 4 rows");
  EXPECT_EQ(lost.at("explain").at("next"), "transpose b");
  EXPECT_EQ(lost.at("explain").at("evidence"), "cases that end like this: 1 of 3");
  EXPECT_EQ(r.at("next_step").at("text"), "transpose b");
  EXPECT_EQ(r.at("cases").at(0).at("reason").at("text"),
            "the shapes do not match (a has 3 columns, and b 4 rows; transpose b)");
}

TEST_F(Report, SaysOfAReasonWithWordsOfItsOwnJustThose) {
  set_metric(cases_[1], "h2d_bytes", 4096);
  for (spec::CheckSpec& known : lab_.checks)
    if (known.id == "bytes-up")
      known.causes = {{"too-many-bytes", {"{value} is a lot", "send less"}}, {"other", {"x", "y"}}};
  const Json r = report(), &explain = check(r, "bytes-up").at("explain");
  EXPECT_EQ(explain.at("cause"), "4.00 KiB is a lot");
  EXPECT_EQ(explain.at("next"), "send less");
  EXPECT_EQ(r.at("next_step").at("text"), "send less");
}

TEST_F(Report, SendsToADebuggerWhereACallCrashed) {
  end_case(cases_[0], Status::crashed, "crashed", "SIGSEGV (Segmentation fault) during the call");
  const Json step = report().at("next_step");
  EXPECT_EQ(step.at("command"), "labrig check . --task 1 --debug");
  EXPECT_NE(step.at("text").get<std::string>().find("--debug"), std::string::npos) << step;
}

TEST_F(Report, OfAFaultHasNoScore) {
  end_case(cases_[0], Status::fault, "card-died", "the card died");
  const Json r = report();
  EXPECT_TRUE(r.at("score").is_null());
  EXPECT_EQ(r.at("passed"), false);
  EXPECT_TRUE(r.at("next_step").is_null());
  EXPECT_EQ(r.at("verdict"),
            "Not graded: labrig or the lab failed in 3 of 4 checks; this is not the submission's doing.");
}

TEST_F(Report, LeavesSkippedChecksOutOfTheMaximum) {
  cases_.pop_back();
  const Json r = report();
  EXPECT_EQ(r.at("max_score"), 80);
  EXPECT_EQ(r.at("score"), 80);
  EXPECT_EQ(r.at("passed"), true);
  EXPECT_EQ(check(r, "worth-it").at("status"), "skipped");
}

TEST_F(Report, MeasuresThePassMarkAgainstWhatCouldBeReached) {
  cases_.pop_back();  // 80 can be reached, 48 pass
  for (std::size_t i = 0; i < 3; ++i) set_metric(cases_[i], "h2d_bytes", 9000);
  EXPECT_EQ(report().at("score"), 50);
  EXPECT_EQ(report().at("passed"), true);
  lab_.pass_mark = 63;
  EXPECT_EQ(report().at("passed"), false);
}

TEST_F(Report, WritesAnInfiniteRatioAsNull) {
  cases_[0].reference->metrics = {{"h2d_bytes", 1000}, {"device_flops", 100}, {"time_ps", 0}};
  EXPECT_TRUE(check(report(), "time").at("metrics").at("ratio").is_null());
}

TEST_F(Report, ShowsCasesWithTheirSeedsAndReferences) {
  const Json r = report();
  const Json& small = r.at("cases").at(0);
  EXPECT_EQ(small.at("device"), "sim:0");
  EXPECT_EQ(small.at("profile"), "desktop");
  EXPECT_EQ(small.at("seed").get<std::string>().substr(0, 2), "0x");
  EXPECT_EQ(small.at("reference").at("h2d_bytes"), 1000);
  EXPECT_EQ(small.at("parameters").at("rows"), 1000);
  EXPECT_TRUE(r.at("cases").at(3).at("profile").is_null());
}

TEST_F(Report, ShowsWhatTheJudgeAndTheCardToldOfACase) {
  cases_[0].card = {{"title", "toy"}, {"capacity_bytes", 5}};
  cases_[0].mismatches = {{{"what", "the scores"}, {"pattern", nullptr}}};
  cases_[0].charts = {{{"id", "loss"}}};
  Hazard hazard;
  hazard.time_ps = 17;
  cases_[0].hazards = {Hazard(), hazard};
  cases_[0] = outcome_from(to_json(cases_[0]));  // as the grader gets it from the supervisor
  const Json shown = report().at("cases").at(0);
  EXPECT_EQ(shown.at("card").at("title"), "toy");
  EXPECT_EQ(shown.at("mismatches").at(0).at("what"), "the scores");
  EXPECT_EQ(shown.at("charts").at(0).at("id"), "loss");
  EXPECT_FALSE(shown.at("hazards").at(0).contains("time_ps")) << "it was not kept";
  EXPECT_EQ(shown.at("hazards").at(1).at("time_ps"), 17);
  EXPECT_TRUE(report().at("cases").at(1).at("card").is_null());
  EXPECT_EQ(report().at("cases").at(1).at("charts"), Json::array());
}

TEST_F(Report, PutsWhatWrongValuesHaveInCommonIntoTheEvidence) {
  for (std::size_t i = 0; i < 3; ++i) end_case(cases_[i], Status::wrong_values, "wrong-values", "3 of 5 are wrong");
  cases_[0].mismatches = {{{"what", "the bias"}, {"pattern", nullptr}, {"pattern_text", ""}},
                          {{"what", "the scores"}, {"pattern", "stale"}, {"pattern_text", "All 3 are old"}}};
  EXPECT_EQ(check(report(), "values-right").at("explain").at("evidence"), "3 of 5 are wrong. All 3 are old");
}

TEST_F(Report, OfARefusedSubmissionSaysWhyInEveryCheck) {
  const Error refusal("plugin-lab", "this plugin is for another lab", "its manifest says so", "give the right one");
  const Json r = grade_refused(lab_, kSubmission, refusal);
  EXPECT_EQ(r.at("score"), 0);
  EXPECT_EQ(r.at("verdict"), "Refused before any of its code ran: this plugin is for another lab.");
  EXPECT_EQ(r.at("next_step").at("text"), "this plugin is for another lab:\nits manifest says so\ngive the right one");
  for (const Json& item : r.at("checks")) EXPECT_EQ(item.at("reason").at("code"), "plugin-lab");
  EXPECT_TRUE(r.at("cases").empty());
}

TEST(Outcome, SurvivesTheWayThroughJson) {
  const spec::LabSpec lab = toy_lab();
  CaseOutcome outcome = perfect_cases(lab)[2];
  end_case(outcome, Status::out_of_memory, "out-of-memory", "no room");
  outcome.output = "printed";
  outcome.figures["regret"] = 0.25;
  outcome.findings["plan"] = {0.5, "late", "too late"};
  outcome.trace = {{"timeline", Json::array()}};
  const CaseOutcome back = outcome_from(Json::parse(to_json(outcome).dump()));
  EXPECT_EQ(to_json(back).dump(), to_json(outcome).dump());
  EXPECT_EQ(back.plan.seed, outcome.plan.seed);
  EXPECT_EQ(back.status, Status::out_of_memory);
}

TEST_F(Report, HasAdviceOfItsOwnForEachKindOfWrongResult) {
  std::set<std::string> causes;
  for (const char* code : {"wrong-shape", "wrong-dtype", "not-finite", "card-unfed", "wrong-values"}) {
    end_case(cases_[0], Status::wrong_values, code, "it is wrong");
    causes.insert(check(report(), "values-right").at("explain").at("cause").get<std::string>());
  }
  EXPECT_EQ(causes.size(), 5u);
}

TEST_F(Report, TakesAnAbortForNoException) {
  end_case(cases_[0], Status::crashed, "aborted", "the program aborted during the call");
  const std::string cause = check(report(), "values-right").at("explain").at("cause");
  EXPECT_NE(cause.find("abort()"), std::string::npos) << cause;
}

TEST_F(Report, LeavesTheBracesInWhatASubmissionThrew) {
  end_case(cases_[0], Status::crashed, "exception", "threw {value} and {case}" + std::string(100'000, '{'));
  const std::string text = check(report(), "values-right").at("reason").at("text");
  EXPECT_EQ(text.substr(0, 24), "threw {value} and {case}");
}

TEST_F(Report, ShowsTheHazardsOfACase) {
  Hazard hazard;
  hazard.kind = "unordered-read";
  hazard.text = "a reads b";
  hazard.count = 3;
  hazard.earlier = {"copy 'b'", 1};
  hazard.later = {"the host", std::nullopt};
  cases_[0].hazards = {hazard};
  cases_[0].notes = {"reads 4 bytes of 'x' that nothing has written"};
  const Json shown = report().at("cases").at(0);
  EXPECT_EQ(shown.at("hazards").at(0).at("earlier").at("stream"), 1);
  EXPECT_TRUE(shown.at("hazards").at(0).at("later").at("stream").is_null());
  EXPECT_EQ(shown.at("notes").size(), 1u);
  EXPECT_EQ(to_json(outcome_from(to_json(cases_[0]))), to_json(cases_[0])) << "it survives the way to the grader";
}

}  // namespace
}  // namespace labrig::grade
