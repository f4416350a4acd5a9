// What the two runs of a case say together.
#include "supervisor/ordering.hpp"

#include <gtest/gtest.h>

#include "grade_cases.hpp"

namespace labrig::supervisor {
namespace {

using grade::CaseOutcome;
using grade::Status;

CaseOutcome run_of_a_case() {
  CaseOutcome outcome = test::perfect_cases(test::toy_lab()).front();
  outcome.metrics.emplace_back("hazards", 0);
  return outcome;
}

void add_hazard(CaseOutcome& outcome, const std::string& text, std::int64_t count) {
  grade::Hazard hazard;
  hazard.kind = "unordered-read";
  hazard.text = text;
  hazard.count = count;
  outcome.hazards.push_back(hazard);
  test::set_metric(outcome, "hazards", count);
}

TEST(WithOrder, LeavesAnOrderedCaseAlone) {
  const CaseOutcome once = run_of_a_case();
  EXPECT_TRUE(wants_late_run(once));
  EXPECT_EQ(to_json(with_order(once, once)), to_json(once));
}

TEST(WithOrder, ALateRunIsForCardsWithDataWhoseValuesWereRight) {
  CaseOutcome outcome = run_of_a_case();
  outcome.plan.data = false;
  EXPECT_FALSE(wants_late_run(outcome));
  outcome = run_of_a_case();
  outcome.plan.device = DeviceType::cpu;
  EXPECT_FALSE(wants_late_run(outcome));
  outcome = run_of_a_case();
  outcome.status = Status::wrong_values;
  EXPECT_FALSE(wants_late_run(outcome));
}

TEST(WithOrder, WhatWasWrongOnlyInTheLateRunIsShownAsSuch) {
  CaseOutcome eager = run_of_a_case(), late = run_of_a_case();
  test::end_case(late, Status::wrong_values, "wrong-values", "poison");
  late.mismatches = {{{"what", "the scores"}, {"pattern", "unwritten"}}};
  CaseOutcome both = with_order(eager, late);
  ASSERT_EQ(both.mismatches.size(), 1u);
  EXPECT_EQ(both.mismatches[0]["what"], "the scores, when the card works as late as it may");
  eager.mismatches = {{{"what", "the bias"}}};
  EXPECT_EQ(with_order(eager, late).mismatches, eager.mismatches);
}

TEST(WithOrder, AHazardIsTheReasonWhetherOrNotAValueWasWrong) {
  CaseOutcome eager = run_of_a_case(), late = run_of_a_case();
  add_hazard(eager, "hazard: kernel 'a' reads 'x'\n  why: b\n  fix: c", 2);
  add_hazard(late, "hazard: kernel 'a' reads 'x'\n  why: b\n  fix: c", 2);
  CaseOutcome both = with_order(eager, late);
  EXPECT_EQ(both.status, Status::hazard);
  EXPECT_EQ(both.reason->code, "unordered-read");
  EXPECT_EQ(both.reason->text, "kernel 'a' reads 'x'\n  why: b\n  fix: c");
  EXPECT_EQ(both.quantity("hazards"), 2);
  test::end_case(late, Status::wrong_values, "wrong-values", "poison");
  test::set_metric(late, "time_ps", 7);  // it took another way
  EXPECT_EQ(with_order(eager, late).status, Status::hazard);
}

TEST(WithOrder, WrongValuesOfTheEagerRunComeFirst) {
  CaseOutcome eager = run_of_a_case();
  add_hazard(eager, "text", 1);
  test::end_case(eager, Status::wrong_values, "wrong-values", "3 are wrong");
  const CaseOutcome both = with_order(eager, std::nullopt);
  EXPECT_EQ(both.status, Status::wrong_values);
  EXPECT_EQ(both.hazards.size(), 1u);
}

TEST(WithOrder, ALateRunThatGoesWrongWithoutAHazardIsOneThatNobodyAnnounced) {
  CaseOutcome late = run_of_a_case();
  test::end_case(late, Status::wrong_values, "wrong-values", "3 of 8 values are wrong");
  const CaseOutcome both = with_order(run_of_a_case(), late);
  EXPECT_EQ(both.status, Status::hazard);
  EXPECT_EQ(both.reason->code, "wrong-when-late");
  EXPECT_NE(both.reason->text.find("3 of 8 values"), std::string::npos);
  EXPECT_EQ(both.quantity("hazards"), 1) << "a check on the metric sees it too";
}

// Random numbers, the clock, or a raw pointer into a copy under way: no submission turns its grade into a fault of
// ours.
TEST(WithOrder, OtherMetricsAreTheSubmissionsDoingAndMayComeFromThreads) {
  CaseOutcome late = run_of_a_case();
  test::set_metric(late, "time_ps", 1001);
  const CaseOutcome both = with_order(run_of_a_case(), late);
  EXPECT_EQ(both.status, Status::hazard);
  EXPECT_EQ(both.reason->code, "runs-differ");
  EXPECT_NE(both.reason->text.find("time_ps 1000 and 1001"), std::string::npos) << both.reason->text;
  late.from_threads = true;
  EXPECT_EQ(with_order(run_of_a_case(), late).status, Status::ok);
}

TEST(WithOrder, AFaultOfTheLateRunIsAFault) {
  CaseOutcome late = run_of_a_case();
  test::end_case(late, Status::fault, "card-died", "it died");
  EXPECT_EQ(with_order(run_of_a_case(), late).status, Status::fault);
}

}  // namespace
}  // namespace labrig::supervisor
