// The report and its checks; its cases are read in model_case.cpp.
#include "model.hpp"

#include <limits>
#include <nlohmann/json.hpp>

#include "json_read.hpp"
#include "model_case.hpp"
#include "units.hpp"

namespace labrig::reports {
namespace {

using Json = nlohmann::json;
using namespace json_read;

Check read_check(const Json& json) {
  Check check;
  check.id = text(json, "id");
  check.title = text(json, "title");
  check.status = text(json, "status");
  check.handout = text(json, "handout");
  check.task = integer(json, "task");
  check.points = number(json, "points");
  check.max_points = number(json, "max_points");
  check.reason = read_reason(json);
  check.hints = texts(json, "hints");
  check.facts = texts(json, "facts");
  check.hidden = text(json, "visibility") == "hidden";
  if (const Json& e = member(json, "explain"); e.is_object()) {
    check.explain =
        Explain{prose(e, "what"), prose(e, "where"), prose(e, "cause"), prose(e, "next"), prose(e, "evidence")};
  }
  const Json& metrics = member(json, "metrics");
  check.metrics.value = maybe_number(metrics, "value");
  check.metrics.reference = maybe_number(metrics, "reference");
  check.metrics.limit = maybe_number(metrics, "limit");
  check.metrics.ratio = maybe_number(metrics, "ratio");
  if (metrics.is_object() && metrics.contains("ratio") && metrics["ratio"].is_null() && !check.metrics.limit) {
    check.metrics.ratio = std::numeric_limits<double>::infinity();
  }
  check.metrics.unit = text(metrics, "unit");
  for (const Json& item : list(json, "cases")) {
    check.cases.push_back({text(item, "case"), text(item, "code"), number(item, "share")});
  }
  return check;
}

void read_environment(const Json& json, Report& report) {
  report.secret = text(json, "secret");
  report.notes = texts(json, "notes");
  if (!json.is_object()) return;
  static const std::vector<std::pair<const char*, const char*>> order = {
      {"labrig", "labrig"}, {"build_tag", "build tag"}, {"compiler", "compiler"}, {"os", "system"},
      {"cpu", "processor"}, {"cuda", "CUDA"},           {"secret", "secret"},     {"generated_at", "made at"}};
  for (const auto& [key, label] : order) {
    if (const std::string value = text(json, key); !value.empty()) report.environment.emplace_back(label, value);
  }
  if (const auto wall = maybe_number(json, "wall_ms")) {
    report.environment.emplace_back("wall time", human(*wall * 1e9, "ps"));
  }
}

}  // namespace

std::optional<double> find(const Numbers& numbers, std::string_view name) {
  for (const auto& [key, value] : numbers) {
    if (key == name) return value;
  }
  return std::nullopt;
}

Report read_report(const Json& json) {
  if (!json.is_object()) throw Json::type_error::create(302, "a report must be a JSON object", &json);
  Report report;
  const Json& lab = member(json, "lab");
  report.lab_id = text(lab, "id");
  report.lab_version = text(lab, "version");
  report.lab_title = text(lab, "title");
  report.pass_mark = maybe_number(lab, "pass_mark").value_or(report.pass_mark);
  const Json& submission = member(json, "submission");
  report.name = text(submission, "name");
  report.hash = text(submission, "hash");
  report.source = text(submission, "source");
  report.score = maybe_number(json, "score");
  report.max_score = number(json, "max_score");
  report.passed = flag(json, "passed");
  report.students_copy = text(json, "copy") == "student";
  report.verdict = text(json, "verdict");
  if (const Json& step = member(json, "next_step"); step.is_object()) {
    report.next_step = Report::NextStep{text(step, "check"), prose(step, "text"), text(step, "command")};
  }
  for (const Json& item : list(json, "tasks")) report.tasks.push_back({integer(item, "id"), text(item, "title")});
  for (const Json& item : list(json, "checks")) report.checks.push_back(read_check(item));
  for (const Json& item : list(json, "cases")) report.cases.push_back(read_case(item));
  read_environment(member(json, "environment"), report);
  return report;
}

}  // namespace labrig::reports
