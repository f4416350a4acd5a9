// Gradescope's results.json. A test a check. What the file shows of hidden scenarios is what the student's copy of a
// report shows, since students read it; a hidden check becomes visible with the grades ("after_published"), and until
// then Gradescope does not show a student the total. What a submission printed is not in it.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "causes.hpp"
#include "check_words.hpp"
#include "format_renderers.hpp"
#include "formats.hpp"
#include "units.hpp"

namespace labrig::reports {
namespace {

using Json = nlohmann::ordered_json;

std::string output_of(const Check& check) {
  if (check.status == "passed") return check.title;
  const std::string why = loss_in_words(check);
  return why.empty() ? check.title : check.title + "\n" + why;
}

// `place`: of the check in its task.
Json test_of(const Check& check, std::size_t place, bool with_score) {
  Json test;
  if (with_score && check.status != "skipped") {
    test["score"] = check.points;
    test["max_score"] = check.max_points;
  }
  // Without a status Gradescope takes less than all points for failed, as we do.
  if (check.status != "skipped" && check.status != "fault")
    test["status"] = check.status == "passed" ? "passed" : "failed";
  test["name"] = check.id;
  test["name_format"] = "text";
  test["number"] = fmt::format("{}.{}", check.task, place);
  test["output"] = output_of(check);
  test["output_format"] = "text";
  test["tags"] = Json::array({fmt::format("task-{}", check.task)});
  test["visibility"] = check.hidden ? "after_published" : "visible";
  test["extra_data"] = {{"check", check.id}, {"status", check.status}, {"code", check.reason.code}};
  return test;
}

// While a check is hidden Gradescope shows students no total, so no sentence of ours does.
std::string verdict_of(const Report& report) {
  const bool hides = std::any_of(report.checks.begin(), report.checks.end(), [](const Check& c) { return c.hidden; });
  const bool says_points = report.score && report.verdict.find(points_text(*report.score)) != std::string::npos;
  if (!hides || !says_points) return report.verdict;
  std::size_t passed = 0, visible = 0;
  for (const Check& check : report.checks) {
    visible += check.hidden ? 0 : 1;
    passed += !check.hidden && check.status == "passed" ? 1 : 0;
  }
  return fmt::format("{} of {} visible checks passed; the others, and the total, stand with the published grades.",
                     passed, visible);
}

std::string summary_of(const Report& report) {
  std::string text = verdict_of(report);
  if (!report.next_step) return text;
  const bool about_hidden = std::any_of(report.checks.begin(), report.checks.end(), [&](const Check& check) {
    return check.hidden && check.id == report.next_step->check;
  });
  return about_hidden ? text : text + "\nNext: " + report.next_step->text;
}

std::string written(const nlohmann::json& whole, const std::string& heading) {
  const nlohmann::json json = student_view(whole);
  const Report report = read_report(json);
  Json results;
  // A fault is nobody's grade: no score at all, so that it is not taken for a zero.
  if (report.score) results["score"] = *report.score;
  if (const auto environment = whole.find("environment"); environment != whole.end() && environment->is_object())
    if (const auto wall = environment->find("wall_ms"); wall != environment->end() && wall->is_number())
      results["execution_time"] = wall->get<double>() / 1000;
  results["output"] = heading + summary_of(report);
  results["output_format"] = "text";
  results["test_output_format"] = "text";
  results["test_name_format"] = "text";
  results["visibility"] = "visible";
  results["stdout_visibility"] = "hidden";
  results["extra_data"] = {{"schema", "labrig.report/1"},
                           {"lab", report.lab_id},
                           {"lab_version", report.lab_version},
                           {"submission_hash", report.hash},
                           {"max_score", report.max_score}};
  results["tests"] = Json::array();
  std::map<std::int64_t, std::size_t> places;
  for (const Check& check : report.checks)
    results["tests"].push_back(test_of(check, ++places[check.task], report.score.has_value()));
  return results.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace

std::string render_gradescope(const nlohmann::json& report) { return written(report, ""); }

std::string render_gradescope_partial(const nlohmann::json& report, std::size_t finished, std::size_t total) {
  return written(report, fmt::format("Unfinished: {} of {} cases have run so far; what has not run counts 0 points.\n",
                                     finished, total));
}

}  // namespace labrig::reports
