// The points rule: bands, combination, gates, faults.
#include "grade/points.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "bands.hpp"
#include "grade_cases.hpp"

namespace labrig::grade {
namespace {

using reports::ratio_share;
using test::end_case;
using test::perfect_cases;
using test::set_metric;
using test::toy_lab;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

TEST(RatioShare, HasItsBandsWithTheUpperEdgeInside) {
  const auto above = [](double edge) { return std::nextafter(edge, 10); };
  EXPECT_EQ(ratio_share(0), 1);
  EXPECT_EQ(ratio_share(1.15), 1);
  EXPECT_EQ(ratio_share(115.0 / 100.0), 1);
  EXPECT_EQ(ratio_share(above(1.15)), 0.75);
  EXPECT_EQ(ratio_share(1.5), 0.75);
  EXPECT_EQ(ratio_share(above(1.5)), 0.5);
  EXPECT_EQ(ratio_share(2), 0.5);
  EXPECT_EQ(ratio_share(above(2)), 0.25);
  EXPECT_EQ(ratio_share(3), 0.25);
  EXPECT_EQ(ratio_share(above(3)), 0.1);
  EXPECT_EQ(ratio_share(5), 0.1);
  EXPECT_EQ(ratio_share(above(5)), 0);
  EXPECT_EQ(ratio_share(kInfinity), 0);
}

TEST(AccuracyShare, HasItsBandsWithTheLowerEdgeInside) {
  const auto below = [](double edge) { return std::nextafter(edge, 0); };
  EXPECT_EQ(accuracy_share(1), 1);
  EXPECT_EQ(accuracy_share(0.9), 1);
  EXPECT_EQ(accuracy_share(below(0.9)), 0.75);
  EXPECT_EQ(accuracy_share(0.8), 0.75);
  EXPECT_EQ(accuracy_share(below(0.8)), 0.5);
  EXPECT_EQ(accuracy_share(0.65), 0.5);
  EXPECT_EQ(accuracy_share(below(0.65)), 0.25);
  EXPECT_EQ(accuracy_share(0.5), 0.25);
  EXPECT_EQ(accuracy_share(below(0.5)), 0);
}

TEST(RatioOf, KnowsWhatToDoWithNothing) {
  EXPECT_EQ(ratio_of(30, 10, false), 3);
  EXPECT_EQ(ratio_of(0, 0, false), 1);
  EXPECT_EQ(ratio_of(0, 0, true), 1);
  EXPECT_EQ(ratio_of(5, 0, false), kInfinity);
  EXPECT_EQ(ratio_of(0, 5, false), 0);
  EXPECT_EQ(ratio_of(10, 30, true), 3);
  EXPECT_EQ(ratio_of(0, 5, true), kInfinity);
  EXPECT_EQ(ratio_of(-1, 5, true), kInfinity);
  EXPECT_EQ(ratio_of(5, 0, true), 0);
}

TEST(RoundPoints, GoesToATenth) {
  EXPECT_DOUBLE_EQ(round_points(6.6666), 6.7);
  EXPECT_DOUBLE_EQ(round_points(0.04), 0);
}

class Points : public testing::Test {
 protected:
  const CheckResult& check(const std::string& id) {
    results_ = evaluate(lab_, cases_);
    for (const CheckResult& result : results_)
      if (result.spec->id == id) return result;
    throw std::logic_error("no check " + id);
  }
  const CaseShare& deciding(const std::string& id) {
    const CheckResult& result = check(id);
    return result.cases.at(result.deciding.value());
  }
  spec::CheckSpec& rule(const std::string& id) {
    for (spec::CheckSpec& item : lab_.checks)
      if (item.id == id) return item;
    throw std::logic_error("no check " + id);
  }

  spec::LabSpec lab_ = toy_lab();
  std::vector<CaseOutcome> cases_ = perfect_cases(lab_);  // small@desktop, small@h200, unseen@desktop, advice@cpu
  std::vector<CheckResult> results_;
};

TEST_F(Points, AreAllThereForTheReferenceItself) {
  for (const CheckResult& result : evaluate(lab_, cases_)) {
    EXPECT_EQ(result.status, CheckStatus::passed) << result.spec->id;
    EXPECT_EQ(result.points, result.spec->points);
    EXPECT_EQ(result.deciding, 0u);
  }
}

TEST_F(Points, AreTheMeanOverTheCases) {
  set_metric(cases_[1], "time_ps", 1500);  // 0.75
  set_metric(cases_[2], "time_ps", 6000);  // 0
  const CheckResult& time = check("time");
  EXPECT_DOUBLE_EQ(time.share, 1.75 / 3);
  EXPECT_DOUBLE_EQ(time.points, 11.7);
  EXPECT_EQ(time.status, CheckStatus::partial);
  EXPECT_EQ(time.deciding, 2u);
  EXPECT_EQ(time.cases[2].code, "slow");
  EXPECT_EQ(time.cases[2].quantities.ratio, 6);
  EXPECT_EQ(time.cases[0].code, "");
}

TEST_F(Points, AreThoseOfTheWorstCaseWhereTheCheckSaysSo) {
  rule("time").combine = spec::Combine::worst;
  set_metric(cases_[1], "time_ps", 1500);
  EXPECT_EQ(check("time").share, 0.75);
}

TEST_F(Points, AreDecidedByTheFirstOfEquallyBadCases) {
  set_metric(cases_[1], "time_ps", 9000);
  set_metric(cases_[2], "time_ps", 9000);
  EXPECT_EQ(check("time").deciding, 1u);
}

TEST_F(Points, OfAMetricAreBandedByTheSumOfItsNames) {
  rule("time").metric = {"h2d_copies", "launches"};
  set_metric(cases_[0], "h2d_copies", 11);  // 16 against 8
  EXPECT_EQ(deciding("time").quantities.ratio, 2);
}

TEST_F(Points, MayComeFromTheJudgesFigures) {
  rule("time").metric = {"speed"};
  rule("time").more_is_better = true;
  for (CaseOutcome& outcome : cases_) outcome.figures["speed"] = 5, outcome.reference->figures["speed"] = 10;
  EXPECT_EQ(check("time").share, 0.5);
}

TEST_F(Points, OfAMetricMayBeExplainedByAFinding) {
  rule("time").finding = "why";
  set_metric(cases_[1], "time_ps", 9000);
  EXPECT_EQ(check("time").cases[1].code, "slow") << "the judge found nothing to say";
  cases_[1].findings["why"] = {0, "waits", "the host waits in {case}"};
  const CheckResult& time = check("time");
  EXPECT_EQ(time.cases[1].code, "waits");
  EXPECT_EQ(time.cases[1].text, "the host waits in {case}");
  EXPECT_EQ(time.cases[1].quantities.ratio, 9) << "the metric decides all the same";
  EXPECT_EQ(time.cases[0].share, 1);
}

TEST_F(Points, AtMostHasItsLimitInside) {
  set_metric(cases_[0], "h2d_bytes", 1100);
  EXPECT_EQ(check("bytes-up").status, CheckStatus::passed);
  set_metric(cases_[0], "h2d_bytes", 1101);
  EXPECT_EQ(deciding("bytes-up").share, 0);
  EXPECT_DOUBLE_EQ(*deciding("bytes-up").quantities.limit, 1100);
  rule("bytes-up").plus = 1;
  EXPECT_EQ(check("bytes-up").status, CheckStatus::passed);
}

TEST_F(Points, AtMostTakesItsLimitFromTheScenarioOrTheFile) {
  rule("bytes-up").reference_times.reset();
  rule("bytes-up").limit_parameter = "budget_bytes";
  set_metric(cases_[0], "h2d_bytes", 4096);
  EXPECT_EQ(check("bytes-up").status, CheckStatus::passed);
  set_metric(cases_[0], "h2d_bytes", 4097);
  EXPECT_EQ(check("bytes-up").status, CheckStatus::partial);
  rule("bytes-up").limit_parameter = "budget_of_the_inputs";
  EXPECT_EQ(check("bytes-up").status, CheckStatus::fault);
  EXPECT_EQ(deciding("bytes-up").code, "no-such-parameter");
  for (CaseOutcome& outcome : cases_) outcome.input_integers["budget_of_the_inputs"] = 5000;
  EXPECT_EQ(check("bytes-up").status, CheckStatus::passed);
  rule("bytes-up").limit_parameter.clear();
  rule("bytes-up").limit = 1000;
  EXPECT_EQ(*deciding("bytes-up").quantities.limit, 1000);
}

TEST_F(Points, EqualsWantsExactlyItsLimit) {
  rule("bytes-up").reference_times.reset();
  rule("bytes-up").rule = spec::Rule::equals;
  rule("bytes-up").limit = 1000;
  EXPECT_EQ(check("bytes-up").status, CheckStatus::passed);
  set_metric(cases_[0], "h2d_bytes", 999);
  EXPECT_EQ(deciding("bytes-up").share, 0);
}

TEST_F(Points, OfFurtherConditionsAreTheSmallestAndTheFirstOfThoseSpeaks) {
  spec::Condition launches, copies;
  launches.rule = spec::Rule::ratio, launches.metric = {"launches"}, launches.code = "many-launches";
  copies.rule = spec::Rule::equals, copies.metric = {"h2d_copies"}, copies.limit = 3, copies.code = "other-copies";
  rule("time").also = {launches, copies};
  EXPECT_EQ(check("time").status, CheckStatus::passed);
  set_metric(cases_[0], "time_ps", 1500);  // 0.75
  set_metric(cases_[0], "launches", 10);   // 0.5
  EXPECT_EQ(deciding("time").share, 0.5);
  EXPECT_EQ(deciding("time").code, "many-launches");
  EXPECT_EQ(deciding("time").quantities.ratio, 2);
  set_metric(cases_[0], "time_ps", 2000);  // 0.5 too
  EXPECT_EQ(deciding("time").code, "slow");
  set_metric(cases_[0], "h2d_copies", 4);
  EXPECT_EQ(deciding("time").code, "other-copies");
}

TEST_F(Points, OfAFindingAreTheJudges) {
  cases_[3].findings["regret"] = {0.4, "too-eager", "moved everything"};
  const CheckResult& worth = check("worth-it");
  EXPECT_EQ(worth.points, 8);
  EXPECT_EQ(worth.cases[0].code, "too-eager");
  EXPECT_EQ(worth.cases[0].text, "moved everything");
  cases_[3].findings["regret"] = {0, "", ""};
  EXPECT_EQ(deciding("worth-it").code, "unwise");
}

TEST_F(Points, OfAFindingThatTheJudgeForgotAreAFault) {
  cases_[3].findings.clear();
  EXPECT_EQ(check("worth-it").status, CheckStatus::fault);
  EXPECT_EQ(deciding("worth-it").code, "no-such-finding");
}

TEST_F(Points, WrongValuesFailTheirCheckAndCloseTheOthers) {
  end_case(cases_[1], Status::wrong_values, "wrong-shape", "the shape is [2], expected [3]");
  EXPECT_EQ(check("values-right").points, 0) << "the worst case counts";
  EXPECT_EQ(deciding("values-right").code, "wrong-shape");
  EXPECT_EQ(deciding("bytes-up").code, "needs:values-right");
  EXPECT_EQ(deciding("bytes-up").loss, Loss::gate);
  EXPECT_DOUBLE_EQ(check("bytes-up").share, 2.0 / 3) << "only the wrong case is lost";
  EXPECT_EQ(check("worth-it").status, CheckStatus::passed) << "another kind is not touched";
}

TEST_F(Points, ACallThatDidNotComeBackGivesEveryCheckItsReason) {
  end_case(cases_[0], Status::crashed, "device-pointer", "device pointer dereferenced");
  for (const char* id : {"values-right", "bytes-up", "time"}) {
    EXPECT_EQ(deciding(id).code, "device-pointer") << id;
    EXPECT_EQ(deciding(id).loss, Loss::case_end) << id;
  }
}

TEST_F(Points, ACardThatDidNothingIsIdle) {
  for (const char* name : {"h2d_bytes", "h2d_copies", "launches", "device_flops", "time_ps"})
    set_metric(cases_[0], name, 0);
  EXPECT_EQ(deciding("values-right").code, "card-idle");
  EXPECT_EQ(deciding("bytes-up").code, "needs:values-right");
}

TEST_F(Points, ACardThatOnlyMovedBytesIsUnused) {
  set_metric(cases_[0], "device_flops", 89);
  EXPECT_EQ(deciding("values-right").code, "card-unused");
  set_metric(cases_[0], "device_flops", 90);
  EXPECT_EQ(check("values-right").status, CheckStatus::passed) << "nine tenths of the work are enough";
}

TEST_F(Points, NeedACardThatWasFedAndWhoseResultWasFetched) {
  set_metric(cases_[0], "h2d_bytes", 500);  // half precision is a fair way to move less
  set_metric(cases_[0], "d2h_bytes", 50);
  EXPECT_EQ(check("values-right").status, CheckStatus::passed);
  set_metric(cases_[0], "d2h_bytes", 49);
  EXPECT_EQ(deciding("values-right").code, "result-not-fetched");
  set_metric(cases_[0], "h2d_bytes", 499);
  EXPECT_EQ(deciding("values-right").code, "card-unfed");
  EXPECT_EQ(deciding("bytes-up").code, "needs:values-right");
}

TEST_F(Points, AHazardLeavesTheOtherChecksAlone) {
  cases_[0].status = Status::hazard;
  EXPECT_EQ(check("time").status, CheckStatus::passed);
}

TEST_F(Points, OfAnOrderingCheckAreLostByAHazardWithItsOwnCode) {
  rule("time").rule = spec::Rule::ordered;
  rule("time").code = "time";
  EXPECT_EQ(check("time").status, CheckStatus::passed);
  end_case(cases_[0], Status::hazard, "unordered-read", "nothing orders operation 9 after operation 7");
  EXPECT_EQ(deciding("time").code, "unordered-read");
  EXPECT_EQ(deciding("time").loss, Loss::rule);
  EXPECT_EQ(check("values-right").status, CheckStatus::passed);
  EXPECT_EQ(check("bytes-up").status, CheckStatus::passed);
}

TEST_F(Points, OfTimeAreLostWhenThreadsDroveTheCard) {
  cases_[1].from_threads = true;
  EXPECT_DOUBLE_EQ(check("time").share, 2.0 / 3);
  EXPECT_EQ(deciding("time").code, "driven-from-threads");
  EXPECT_EQ(check("bytes-up").status, CheckStatus::passed) << "counts do not depend on the order";
}

TEST_F(Points, NeedsMayNameAnotherCheck) {
  rule("time").needs = {"bytes-up"};
  set_metric(cases_[0], "h2d_bytes", 5000);
  EXPECT_EQ(deciding("time").code, "needs:bytes-up");
  EXPECT_DOUBLE_EQ(check("time").share, 2.0 / 3);
  rule("time").needs = std::vector<std::string>{};
  EXPECT_EQ(check("time").status, CheckStatus::passed);
}

TEST_F(Points, ACheckThatFailedOnlyPartlyDoesNotCloseAGate) {
  rule("time").needs = {};
  rule("bytes-up").needs = {"time"};
  set_metric(cases_[0], "time_ps", 4000);  // 0.1
  EXPECT_EQ(check("bytes-up").status, CheckStatus::passed);
}

TEST_F(Points, AKindWithoutAValuesCheckIsGatedByItsOwnValues) {
  end_case(cases_[3], Status::wrong_values, "nonsense", "no decision");
  EXPECT_EQ(deciding("worth-it").code, "nonsense");
}

TEST_F(Points, AFaultOfOneCaseIsAFaultOfItsChecks) {
  end_case(cases_[2], Status::fault, "card-died", "the card died");
  EXPECT_EQ(check("time").status, CheckStatus::fault);
  EXPECT_EQ(check("time").points, 0);
  EXPECT_EQ(check("worth-it").status, CheckStatus::passed);
}

TEST_F(Points, WithoutReferenceFiguresARatioIsAFault) {
  cases_[0].reference.reset();
  EXPECT_EQ(check("time").status, CheckStatus::fault);
  EXPECT_EQ(deciding("time").code, "no-reference");
}

TEST_F(Points, AMetricThatNobodyCountsIsAFault) {
  rule("time").metric = {"tmie_ps"};
  EXPECT_EQ(deciding("time").code, "no-such-metric");
}

TEST_F(Points, CasesThatWereNotRunLeaveTheMean) {
  end_case(cases_[0], Status::not_run, "no-card", "there is no card");
  set_metric(cases_[1], "time_ps", 1500);
  EXPECT_DOUBLE_EQ(check("time").share, 1.75 / 2);
  for (int i : {1, 2}) end_case(cases_[static_cast<std::size_t>(i)], Status::not_run, "no-card", "there is no card");
  EXPECT_EQ(check("time").status, CheckStatus::skipped);
}

TEST_F(Points, ACheckWithoutCasesIsSkipped) {
  cases_.pop_back();
  EXPECT_EQ(check("worth-it").status, CheckStatus::skipped);
}

}  // namespace
}  // namespace labrig::grade
