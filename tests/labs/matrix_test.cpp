// The table of every lab (labs/NN-<id>), graded for real: the solution gets all points, the starter none, alternates at
// least 95, and each flawed variant and each cheat loses exactly the checks of its row
// (plugins/{flawed,hostile}/<lab>/expected.toml), with the code of the row, and full points elsewhere. Each is graded
// once with the public secret and once with each fresh one: LABRIG_TEST_SECRETS says how many (1; `make test-full`
// takes 30).
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>

#include "expected_table.hpp"
#include "run_labrig.hpp"

namespace labrig::test {
namespace {

using nlohmann::json;
namespace fs = std::filesystem;

struct Row {
  std::string lab, name, plugin;  // the plugin: its file
  app::ExpectedRow expected;      // of a flawed variant or a cheat; others have no code
  double at_least = 0, at_most = 100;
};

std::vector<Row> rows_of(const std::string& lab) {
  std::vector<Row> rows = {{lab, "solution", plugin(lab, "solution"), {}, 100, 100},
                           {lab, "starter", plugin(lab, "starter"), {}, 0, 0},
                           {lab, "alternate_1", plugin(lab, "alternate_1"), {}, 95, 100},
                           {lab, "alternate_2", plugin(lab, "alternate_2"), {}, 95, 100}};
  const std::string source = LABRIG_SOURCE, build = LABRIG_BUILD;
  for (const auto& [kind, place] : {std::pair("flawed", build), std::pair("hostile", build + "/hostile")})
    for (const auto& [key, expected] : app::read_expected_tables(source + "/plugins/" + kind).value().rows)
      if (key.first == lab)
        rows.push_back({lab, key.second, place + "/plugins/" + lab + "/" + key.second + ".labrig.so", expected});
  return rows;
}

// `more`: options beside the usual ones. Two tests run at a time, so one case at a time.
Outcome graded(const Row& row, const std::vector<std::string>& more) {
  std::vector<std::string> arguments = {"grade", row.plugin, "--lab", row.lab, "--json", "--jobs", "1"};
  arguments.insert(arguments.end(), more.begin(), more.end());
  return run_labrig(arguments);
}

void expect_points(const Row& row, const json& report) {
  const double score = report.at("score").get<double>();
  EXPECT_GE(score, row.at_least);
  EXPECT_LE(score, row.at_most);
  for (const json& check : report.at("checks")) {
    if (check.at("status") == "passed") {
      EXPECT_EQ(check.at("points"), check.at("max_points")) << check.at("id");
    } else if (row.name == "starter") {
      EXPECT_NE(check.at("reason").at("text").get<std::string>().find("not written yet"), std::string::npos)
          << check.at("id") << " does not say what is missing";
    }
  }
  if (row.expected.code.empty()) return;
  const app::ExpectedRow found = app::row_of(report);
  EXPECT_EQ(found.loses, row.expected.loses);
  EXPECT_EQ(found.code, row.expected.code);
}

// Points come from bands; every ratio keeps 8 % away from every edge, so that no fresh shape tips it over.
void expect_far_from_the_edges(const json& report) {
  for (const json& check : report.at("checks")) {
    const json& ratio = check.at("metrics").value("ratio", json());
    if (!ratio.is_number()) continue;
    for (const double edge : {1.15, 1.5, 2.0, 3.0, 5.0})
      EXPECT_TRUE(ratio <= edge / 1.08 || ratio >= edge * 1.08)
          << check.at("id") << ": " << ratio << " is near " << edge;
  }
}

// Refused before any of its code ran: no case, and every reason names the symbol that it may not use.
void expect_refusal(const Row& row, const Outcome& outcome) {
  EXPECT_EQ(outcome.exit_code, 3) << outcome.text;
  const json report = json::parse(outcome.text);
  EXPECT_EQ(report.at("score"), 0);
  EXPECT_TRUE(report.at("cases").empty());
  for (const json& check : report.at("checks")) {
    EXPECT_EQ(check.at("reason").at("code"), row.expected.code);
    EXPECT_NE(check.at("reason").at("text").get<std::string>().find("uses `"), std::string::npos) << check.at("reason");
  }
}

class LabMatrix : public testing::Test {
 public:
  explicit LabMatrix(Row row) : row_(std::move(row)) {}
  void TestBody() override {
    if (row_.expected.refused) return expect_refusal(row_, graded(row_, {}));
    grade_and_compare({});
    const char* count = std::getenv("LABRIG_TEST_SECRETS");
    const Scratch scratch;
    for (int i = 0; i < (count != nullptr ? std::atoi(count) : 1); ++i) {
      SCOPED_TRACE("matrix-secret-" + std::to_string(i));
      std::ofstream(scratch / "secret") << "matrix-secret-" << i;
      grade_and_compare({"--secret-file", scratch / "secret"});
    }
  }

 private:
  void grade_and_compare(const std::vector<std::string>& more) {
    const Outcome outcome = graded(row_, more);
    const json report = json::parse(outcome.text, nullptr, /*allow_exceptions=*/false);
    ASSERT_TRUE(report.is_object()) << outcome.text;
    EXPECT_EQ(outcome.exit_code, report.at("passed").get<bool>() ? 0 : 1);
    expect_points(row_, report);
    expect_far_from_the_edges(report);
  }

  Row row_;
};

// Every check is lost by some variant, and two variants differ in what they lose or in the reason.
class LabTable : public testing::Test {
 public:
  explicit LabTable(std::string lab) : lab_(std::move(lab)) {}
  void TestBody() override {
    std::set<std::string> lost;
    std::set<std::pair<std::set<std::string>, std::string>> seen;
    for (const Row& row : rows_of(lab_)) {
      if (row.expected.code.empty()) continue;
      lost.insert(row.expected.loses.begin(), row.expected.loses.end());
      EXPECT_TRUE(seen.emplace(row.expected.loses, row.expected.code).second)
          << row.name << " cannot be told from another variant";
    }
    // Refused at once, with a report that names every check.
    const Row other = {lab_, "", std::string(LABRIG_BUILD) + "/broken/plugins/scale/wrong_lab.labrig.so", {}};
    for (const json& check : json::parse(graded(other, {}).text).at("checks"))
      EXPECT_TRUE(lost.contains(check.at("id"))) << "no flawed variant loses " << check.at("id");
  }

 private:
  std::string lab_;
};

// reference.json lets a lab be graded where its solution is not; it must hold what the solution does today.
// LABRIG_APPROVE=1 (`make approve`) rewrites it.
class ReferenceFigures : public testing::Test {
 public:
  explicit ReferenceFigures(fs::path folder, std::string lab) : folder_(std::move(folder)), lab_(std::move(lab)) {}
  void TestBody() override {
    const Scratch scratch;
    const Outcome outcome = run_labrig({"labs", "--record-reference", scratch / "out", lab_});
    ASSERT_EQ(outcome.exit_code, 0) << outcome.text;
    json recorded = read_json(scratch / "out/reference.json");
    for (json& one : recorded.at("cases")) one.at("cpu_ms") = 200.0;  // measured: of the day, not of the lab
    if (std::getenv("LABRIG_APPROVE") != nullptr) {
      fs::copy_file(scratch / "out/reference.json", folder_ / "reference.json", fs::copy_options::overwrite_existing);
      return;
    }
    json expected = read_json(folder_ / "reference.json");
    for (json& one : expected.at("cases")) one.at("cpu_ms") = 200.0;
    EXPECT_EQ(recorded, expected);
  }

 private:
  fs::path folder_;
  std::string lab_;
};

// Names as those of parametrised tests: <Lab>/LabMatrix.<sentence>/<variant>, where <Lab> is the lab's id; in names
// `-` would mean "but not".
[[maybe_unused]] const bool kRegistered = [] {
  std::vector<fs::path> folders;
  for (const auto& entry : fs::directory_iterator(std::string(LABRIG_SOURCE) + "/labs"))
    if (entry.is_directory()) folders.push_back(entry.path());
  std::sort(folders.begin(), folders.end());
  const auto add = [](const std::string& suite, const std::string& name, auto make) {
    testing::RegisterTest(suite.c_str(), name.c_str(), nullptr, nullptr, __FILE__, __LINE__, make);
  };
  for (const fs::path& folder : folders) {
    const std::string lab = folder.filename().string().substr(3);  // of NN-<id>
    std::string name = lab;
    std::replace(name.begin(), name.end(), '-', '_');
    for (const Row& row : rows_of(lab))
      add(name + "/LabMatrix", "LosesExactlyTheChecksOfItsRowUnderEverySecret/" + row.name,
          [row]() -> LabMatrix* { return new LabMatrix(row); });
    add("LabTable", "DistinguishesEveryVariantAndExercisesEveryCheck/" + name,
        [lab]() -> LabTable* { return new LabTable(lab); });
    add("ReferenceFigures", "ThatShipAreThoseOfTheSolution/" + name,
        [folder, lab]() -> ReferenceFigures* { return new ReferenceFigures(folder, lab); });
  }
  return true;
}();

}  // namespace
}  // namespace labrig::test
