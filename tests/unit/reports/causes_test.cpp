// Which lost checks follow which.
#include "causes.hpp"

#include <gtest/gtest.h>

namespace labrig::reports {
namespace {

Check check(const std::string& id, const std::string& status, const std::string& code = "",
            const std::string& text = "") {
  Check made;
  made.id = id, made.status = status, made.reason = {code, text};
  return made;
}

// The id that a check follows, in the order of the checks.
std::vector<std::string> followed(std::vector<Check> checks) {
  Report report;
  report.checks = std::move(checks);
  const auto causes = causes_of(report);
  std::vector<std::string> out;
  for (const Check& one : report.checks) out.push_back(causes.at(&one)->id);
  return out;
}

using Ids = std::vector<std::string>;

TEST(Causes, LetACheckFollowTheOneItNeeds) {
  EXPECT_EQ(followed({check("values", "failed", "wrong-values", "x"), check("time", "failed", "needs:values", "y")}),
            (Ids{"values", "values"}));
  EXPECT_EQ(followed({check("time", "failed", "needs:values", "y"), check("values", "partial", "wrong-values", "x")}),
            (Ids{"values", "values"}));
}

TEST(Causes, LetChecksWithOneReasonFollowTheFirst) {
  EXPECT_EQ(followed({check("a", "failed", "crashed", "boom"), check("b", "passed"),
                      check("c", "failed", "crashed", "boom")}),
            (Ids{"a", "b", "a"}));
}

TEST(Causes, KeepChecksApartWhoseReasonsDiffer) {
  EXPECT_EQ(followed({check("a", "failed", "crashed", "boom"), check("b", "failed", "crashed", "bang")}),
            (Ids{"a", "b"}));
  EXPECT_EQ(followed({check("a", "failed", "slow", ""), check("b", "failed", "slow", "")}), (Ids{"a", "b"}));
}

TEST(Causes, FollowChainsToTheirEnd) {
  EXPECT_EQ(followed({check("a", "failed", "needs:b", "1"), check("b", "failed", "needs:c", "2"),
                      check("c", "failed", "slow", "3")}),
            (Ids{"c", "c", "c"}));
}

TEST(Causes, DoNotFollowWhatWasNotLostOrIsNotThere) {
  EXPECT_EQ(followed({check("a", "passed"), check("b", "failed", "needs:a", "1"),
                      check("c", "failed", "needs:nothing", "2")}),
            (Ids{"a", "b", "c"}));
}

TEST(Causes, BreakARingAtItsFirstCheck) {
  EXPECT_EQ(followed({check("a", "failed", "needs:b", "1"), check("b", "failed", "needs:a", "2")}), (Ids{"a", "a"}));
}

TEST(DecidingCase, IsTheFirstWithTheLowestShare) {
  Check one;
  EXPECT_EQ(deciding_case(one), "");
  one.cases = {{"x", "", 0.5}, {"y", "", 0.25}, {"z", "", 0.25}};
  EXPECT_EQ(deciding_case(one), "y");
}

}  // namespace
}  // namespace labrig::reports
