// The table of every lab, graded for real: the solution gets all points, the starter none, alternates at least 95, and
// each flawed variant and each cheat loses exactly the checks of its row
// (plugins/{flawed,hostile}/<lab>/expected.toml), with the code of the row, and full points elsewhere. Run once with
// the public secret and again with fresh ones: LABRIG_TEST_SECRETS says with how many (3; `make test-full` takes 30).
#include <gtest/gtest.h>
#include <toml++/toml.h>

#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>

#include "expected_table.hpp"
#include "run_labrig.hpp"

namespace labrig::test {
namespace {

using nlohmann::json;

struct Row {
  std::string lab, name;        // the plugin's file name
  std::set<std::string> loses;  // ids of checks
  std::string code;             // of the first lost check; empty: not compared
  double at_least = 0, at_most = 100;
  bool hostile = false;
};

void PrintTo(const Row& row, std::ostream* out) { *out << row.name; }

std::string path_of(const Row& row) {
  return row.hostile ? std::string(LABRIG_BUILD) + "/hostile/plugins/" + row.lab + "/" + row.name + ".labrig.so"
                     : plugin(row.lab, row.name);
}

std::vector<Row> rows_of(const std::string& lab) {
  std::vector<Row> rows = {{lab, "solution", {}, "", 100, 100}, {lab, "starter", {}, "", 0, 0}};
  rows.push_back({lab, "alternate_1", {}, "", 95, 100});
  rows.push_back({lab, "alternate_2", {}, "", 95, 100});
  const auto table = app::read_expected_tables(std::string(LABRIG_SOURCE) + "/plugins/flawed").value();
  for (const auto& [key, expected] : table.rows)
    if (key.first == lab) rows.push_back({lab, key.second, expected.loses, expected.code, 0, 100});
  const auto cheats = app::read_expected_tables(std::string(LABRIG_SOURCE) + "/plugins/hostile").value();
  for (const auto& [key, expected] : cheats.rows)
    if (key.first == lab) rows.push_back({lab, key.second, expected.loses, expected.code, 0, 100, true});
  return rows;
}

void expect_row(const Row& row, const json& report) {
  const double score = report.at("score").get<double>();
  EXPECT_GE(score, row.at_least);
  EXPECT_LE(score, row.at_most);
  std::set<std::string> lost;
  std::string code;
  for (const json& check : report.at("checks")) {
    if (check.at("status") == "passed") continue;
    lost.insert(check.at("id").get<std::string>());
    if (code.empty()) code = check.at("reason").at("code").get<std::string>();
    if (row.name == "starter") {
      EXPECT_NE(check.at("reason").at("text").get<std::string>().find("not written yet"), std::string::npos)
          << check.at("id") << " does not say what is missing";
    }
  }
  if (row.name == "starter" || row.at_least >= 95) return;
  EXPECT_EQ(lost, row.loses);
  if (!row.code.empty()) EXPECT_EQ(code, row.code);
}

class LabMatrix : public testing::TestWithParam<Row> {};

TEST_P(LabMatrix, LosesExactlyTheChecksOfItsRow) {
  const Scratch scratch;
  const Outcome outcome = run_labrig({"grade", path_of(GetParam()), "--lab", GetParam().lab, "--out", scratch / "out"});
  const json report = read_json(scratch / "out/report.json");
  EXPECT_EQ(outcome.exit_code, report.at("passed").get<bool>() ? 0 : 1) << outcome.text;
  expect_row(GetParam(), report);
}

TEST_P(LabMatrix, KeepsItsScoreUnderFreshCourseSecrets) {
  const char* count = std::getenv("LABRIG_TEST_SECRETS");
  const Scratch scratch;
  for (int i = 0; i < (count != nullptr ? std::atoi(count) : 3); ++i) {
    const std::string secret = scratch / "secret";
    std::ofstream(secret) << "matrix-secret-" << i;
    run_labrig(
        {"grade", path_of(GetParam()), "--lab", GetParam().lab, "--secret-file", secret, "--out", scratch / "out"});
    SCOPED_TRACE("matrix-secret-" + std::to_string(i));
    expect_row(GetParam(), read_json(scratch / "out/report.json"));
  }
}

INSTANTIATE_TEST_SUITE_P(TransferCost, LabMatrix, testing::ValuesIn(rows_of("transfer-cost")),
                         [](const auto& info) { return info.param.name; });

// Every check is lost by some variant, and two variants differ in what they lose or in the reason.
TEST(LabTable, DistinguishesEveryVariantAndExercisesEveryCheck) {
  std::set<std::string> lost;
  std::set<std::pair<std::set<std::string>, std::string>> seen;
  const auto rows = rows_of("transfer-cost");
  for (const Row& row : rows) {
    if (row.code.empty()) continue;
    lost.insert(row.loses.begin(), row.loses.end());
    EXPECT_TRUE(seen.emplace(row.loses, row.code).second) << row.name << " cannot be told from another variant";
  }
  const auto lab = toml::parse_file(std::string(LABRIG_SOURCE) + "/labs/01-transfer-cost/lab.toml");
  for (const auto& check : *lab["check"].as_array()) {
    const std::string id = (*check.as_table())["id"].value_or("");
    EXPECT_TRUE(lost.count(id)) << "no flawed variant loses " << id;
  }
}

// Points come from bands; every shipped figure keeps 8 % away from every edge, so that no fresh shape tips it over.
TEST(LabTable, KeepsAwayFromTheEdgesOfTheBands) {
  const Scratch scratch;
  for (const Row& row : rows_of("transfer-cost")) {
    run_labrig({"grade", path_of(row), "--lab", row.lab, "--out", scratch / "out"});
    for (const json& check : read_json(scratch / "out/report.json").at("checks")) {
      if (!check.contains("metrics") || !check.at("metrics").contains("ratio") ||
          check.at("metrics").at("ratio").is_null())
        continue;
      const double ratio = check.at("metrics").at("ratio").get<double>();
      if (check.at("id") != "time" && check.at("id") != "copies-up") continue;
      for (const double edge : {1.15, 1.5, 2.0, 3.0, 5.0})
        EXPECT_TRUE(ratio <= edge / 1.08 || ratio >= edge * 1.08)
            << row.name << " " << check.at("id") << ": " << ratio << " is near " << edge;
    }
  }
}

}  // namespace
}  // namespace labrig::test
