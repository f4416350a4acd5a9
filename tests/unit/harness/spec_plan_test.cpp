// Cases and seeds: shapes belong to the class, data to the submission.
#include <gtest/gtest.h>

#include <set>

#include "spec/plan.hpp"
#include "spec_lab_text.hpp"

namespace labrig::spec {
namespace {

LabSpec lab() { return parse_lab(test::kLabText, "lab.toml").value(); }

std::vector<std::string> ids(const std::vector<Case>& cases) {
  std::vector<std::string> names;
  for (const Case& item : cases) names.push_back(item.id);
  return names;
}

TEST(Plan, HasACaseForEachProfileInTheOrderOfTheFile) {
  EXPECT_EQ(ids(plan_cases(lab(), {})),
            (std::vector<std::string>{"small@desktop", "small@h200", "unseen@desktop", "advice@cpu"}));
  PlanOptions visible;
  visible.hidden = false;
  EXPECT_EQ(ids(plan_cases(lab(), visible)), (std::vector<std::string>{"small@desktop", "small@h200", "advice@cpu"}));
}

TEST(Plan, DrawsShapesFromTheSecretAndTheLabAlone) {
  std::set<double> seen;
  for (int i = 0; i < 50; ++i) {
    PlanOptions one, other;
    one.secret = other.secret = "secret " + std::to_string(i);
    one.submission_hash = "a";
    other.submission_hash = "b";
    const Case a = plan_cases(lab(), one)[2], b = plan_cases(lab(), other)[2];
    EXPECT_EQ(a.parameters, b.parameters);
    EXPECT_NE(a.seed, b.seed);
    seen.insert(a.parameters.at("rows"));
  }
  EXPECT_EQ(seen, (std::set<double>{10, 15, 20}));
  LabSpec next = lab();
  next.version = "1.0.1";
  bool differs = false;
  for (int i = 0; i < 20 && !differs; ++i) {
    PlanOptions options;
    options.secret = std::to_string(i);
    differs = plan_cases(lab(), options)[2].parameters != plan_cases(next, options)[2].parameters;
  }
  EXPECT_TRUE(differs);
}

TEST(Plan, GivesEachCaseASeedOfItsOwnUnlessOneIsGiven) {
  std::set<std::uint64_t> seeds;
  for (const Case& item : plan_cases(lab(), {})) seeds.insert(item.seed);
  EXPECT_EQ(seeds.size(), 4u);
  PlanOptions fixed;
  fixed.seed = 7;
  for (const Case& item : plan_cases(lab(), fixed)) EXPECT_EQ(item.seed, 7u);
}

TEST(Plan, AsksForTheCardThatTheScenarioNames) {
  const std::string text = test::replaced(test::kLabText, "kind = \"score\"", "kind = \"score\"\ncards = 3\ncard = 2");
  const std::vector<Case> cases = plan_cases(parse_lab(text, "lab.toml").value(), {});
  EXPECT_EQ(cases[0].cards, 3);
  EXPECT_EQ(device_of(cases[0]).str(), "sim:2");
  EXPECT_EQ(device_of(cases[2]).str(), "sim:0") << "unless it says so, the first";
  EXPECT_EQ(device_of(cases[3]).str(), "cpu");
}

TEST(Plan, IsTheSameEachTime) {
  const std::vector<Case> a = plan_cases(lab(), {}), b = plan_cases(lab(), {});
  for (std::size_t i = 0; i < a.size(); ++i) EXPECT_EQ(a[i].seed, b[i].seed);
}

}  // namespace
}  // namespace labrig::spec
