#include "pages.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>

#include "render.hpp"
#include "samples.hpp"

namespace labrig::reports::test {
namespace {

using Json = nlohmann::json;
constexpr const char* kFlawed = "weights-every-batch";

// Every sample in reports/samples, in the order of their names: a new one is opened without being named here.
std::vector<std::string> all_samples() {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(std::string(LABRIG_REPORTS_DIR) + "/samples")) {
    if (entry.path().extension() == ".json") names.push_back(entry.path().stem().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

Json with_many_checks(std::size_t count) {
  Json report = sample(kFlawed), checks = Json::array();
  for (std::size_t i = 0; i < count; ++i) {
    Json check = report["checks"][i % report["checks"].size()];
    check["id"] = fmt::format("{}-{}", check["id"].get<std::string>(), i);
    checks.push_back(std::move(check));
  }
  report["checks"] = std::move(checks);
  return report;
}

Json without_checks() {
  Json report = sample(kFlawed);
  report["checks"] = report["tasks"] = Json::array();
  report["next_step"] = nullptr;
  report["score"] = report["max_score"] = 0;
  report["verdict"] = "Nothing was checked.";
  return report;
}

Json without_cases() {
  Json report = sample(kFlawed);
  report["cases"] = Json::array();
  for (Json& check : report["checks"]) check["cases"] = Json::array();
  return report;
}

// The harness failed: nobody's points.
Json without_score() {
  Json report = sample("crashed");
  report["score"] = report["next_step"] = nullptr;
  report["passed"] = false;
  report["verdict"] = "The run ended in a fault of the harness: no score.";
  for (Json& check : report["checks"]) {
    check["status"] = "fault";
    check["points"] = 0;
  }
  for (Json& one : report["cases"]) one["status"] = "fault";
  return report;
}

Json with_output(const std::string& text) {
  Json report = sample("crashed");
  for (Json& one : report["cases"]) {
    if (one["status"] != "crashed") continue;
    one["output"] = {{"text", text}, {"cut", false}};
    one["reason"] = {{"code", "crashed"}, {"text", text}};
    break;
  }
  return report;
}

Page hostile(std::string name, const Json& report) { return {std::move(name), "hostile", render_html(report)}; }

// A row for each of `count` students, a fault of the harness among them.
std::vector<IndexRow> class_rows(std::size_t count) {
  static constexpr std::array kFirst = {"ada",    "alan",    "barbara", "claude", "donald",
                                        "edsger", "frances", "grace",   "john",   "lynn"};
  std::vector<std::string> names;  // of one lab, as in a class
  for (const std::string& name : all_samples()) {
    if (sample(name)["lab"]["id"] == "transfer-cost") names.push_back(name);
  }
  std::vector<IndexRow> rows;
  for (std::size_t i = 0; i < count; ++i) {
    const std::string& name = names[(i * i + i / 2) % names.size()];
    rows.push_back(index_row(sample(name), name + ".html"));
    rows.back().name = fmt::format("{}-{:02}", kFirst[i % kFirst.size()], i);
  }
  rows.at(count / 2) = index_row(without_score(), "no-score.html");
  return rows;
}

std::vector<IndexRow> demo_rows() {
  std::vector<IndexRow> rows;
  for (const std::string& name : all_samples()) {
    rows.push_back(index_row(sample(name), name + ".html"));
    rows.back().role = name == "solution" ? "solution" : "flawed";
    rows.back().matched = rows.size() != 2;
    rows.back().expected = "all points";
  }
  return rows;
}

std::vector<IndexRow> hostile_rows() {
  std::vector<IndexRow> rows = {index_row(with_every_text(hostile_text()), "javascript:parent.hacked=1"),
                                index_row(with_every_text(std::string(3000, 'W')), std::string(3000, 'W'))};
  for (IndexRow& row : rows) row.expected = row.role = row.verdict;
  return rows;
}

}  // namespace

std::vector<Page> sample_pages() {
  std::vector<Page> pages;
  for (const std::string& name : all_samples()) pages.push_back({name, "report", render_html(sample(name))});
  return pages;
}

std::vector<Page> synthetic_pages() {
  const Json before = sample("crashed");
  HtmlOptions history;
  history.previous = &before;
  history.handout = "handout.html";
  return {{"checks-200", "made-up", render_html(with_many_checks(200))},
          {"no-checks", "made-up", render_html(without_checks())},
          {"no-cases", "made-up", render_html(without_cases())},
          {"no-score", "made-up", render_html(without_score())},
          {"empty", "made-up", render_html(Json::object())},
          {"with-history", "made-up", render_html(sample(kFlawed), history)},
          {"student-copy", "made-up", render_html(student_view(sample(kFlawed)))},
          hostile("hostile-markup", with_every_text(hostile_text())),
          hostile("hostile-long-word", with_every_text(std::string(3000, 'W'))),
          hostile("hostile-long-line", with_output(std::string(10'000'000, 'A'))),
          hostile("hostile-many-lines", with_output(std::string(100'000, '\n') + hostile_text()))};
}

std::vector<Page> index_pages() {
  return {{"index-class", "index", render_index(class_rows(60), {"What a transfer costs", "60 submissions"})},
          {"index-demo", "index", render_index(demo_rows())},
          {"index-empty", "index", render_index({})},
          {"index-hostile", "hostile", render_index(hostile_rows(), {hostile_text(), hostile_text()})}};
}

}  // namespace labrig::reports::test
