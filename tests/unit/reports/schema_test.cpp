// The samples and every student's copy of them are valid, and the schema refuses what it should.
#include <gtest/gtest.h>

#include "render.hpp"
#include "report_schema.hpp"
#include "samples.hpp"

namespace labrig::reports::test {
namespace {

using Json = nlohmann::json;
using labrig::test::problems;

class Samples : public testing::TestWithParam<std::string> {};

TEST_P(Samples, AreValid) { EXPECT_EQ(problems(sample(GetParam())), ""); }

TEST_P(Samples, AreValidAsTheStudentsCopy) { EXPECT_EQ(problems(student_view(sample(GetParam()))), ""); }

TEST_P(Samples, AddUp) {
  const Json report = sample(GetParam());
  double points = 0, most = 0;
  for (const Json& check : report["checks"])
    points += check["points"].get<double>(), most += check["max_points"].get<double>();
  EXPECT_NEAR(points, report["score"].get<double>(), 1e-9);
  EXPECT_EQ(most, report["max_score"].get<double>());
}

INSTANTIATE_TEST_SUITE_P(Reports, Samples, testing::ValuesIn(sample_names()), [](const auto& test) {
  std::string name = test.param;
  for (char& c : name) c = c == '-' ? '_' : c;
  return name;
});

TEST(Schema, AcceptsAFault) {
  Json report = sample("solution");
  report["score"] = nullptr;
  report["next_step"] = nullptr;
  EXPECT_EQ(problems(report), "");
}

TEST(Schema, RefusesUnknownMembersWrongTypesAndUnknownWords) {
  const std::vector<std::pair<std::string, Json>> changes = {
      {"/extra", 1},
      {"/schema", "labrig.report/2"},
      {"/score", "100"},
      {"/passed", 1},
      {"/lab/colour", "red"},
      {"/checks/0/status", "ok"},
      {"/checks/0/hints", {"a", "b", "c", "d"}},
      {"/checks/0/metrics/values", 1},
      {"/checks/0/cases/0/share", 1.5},
      {"/cases/0/status", "great"},
      {"/cases/0/seed", "17"},
      {"/cases/0/metrics/h2d_bytes", 1.5},
      {"/cases/0/metrics/h2d_copies", -1},
      {"/cases/0/trace/submission/timeline/0/lane", "fast"},
      {"/environment/wall_ms", "1 s"},
  };
  for (const auto& [where, value] : changes) {
    Json report = sample("solution");
    report[Json::json_pointer(where)] = value;
    EXPECT_NE(problems(report), "") << where;
  }
}

TEST(Schema, RefusesAReportWithoutARequiredMember) {
  const Json whole = sample("solution");
  for (const auto& [key, value] : whole.items()) {
    Json report = whole;
    report.erase(key);
    EXPECT_NE(problems(report), "") << key;
  }
}

}  // namespace
}  // namespace labrig::reports::test
