// Gradescope's results.json. A test a check. What the file shows of hidden scenarios is what the student's copy of a
// report shows, since students read it; a hidden check becomes visible with the grades ("after_published"), and until
// then Gradescope does not show a student the total. What a submission printed is not in it.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "causes.hpp"
#include "check_words.hpp"
#include "format_renderers.hpp"
#include "formats.hpp"
#include "units.hpp"

namespace labrig::reports {
namespace {

using Json = nlohmann::ordered_json;

std::string number_of(const Report& report, const Check& check) {
  int place = 0;
  for (const Check& other : report.checks) {
    if (other.task == check.task) ++place;
    if (&other == &check) break;
  }
  return fmt::format("{}.{}", check.task, place);
}

std::string output_of(const Check& check) {
  if (check.status == "passed") return check.title;
  const std::string why = loss_in_words(check);
  return why.empty() ? check.title : check.title + "\n" + why;
}

Json test_of(const Report& report, const Check& check, bool with_score) {
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
  test["number"] = number_of(report, check);
  test["output"] = output_of(check);
  test["output_format"] = "text";
  test["tags"] = Json::array({fmt::format("task-{}", check.task)});
  test["visibility"] = check.hidden ? "after_published" : "visible";
  test["extra_data"] = {{"check", check.id}, {"status", check.status}, {"code", check.reason.code}};
  return test;
}

std::string summary_of(const Report& report) {
  std::string text = report.verdict;
  if (report.next_step) text += "\nNext: " + report.next_step->text;
  return text;
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
  for (const Check& check : report.checks) results["tests"].push_back(test_of(report, check, report.score.has_value()));
  return results.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace

std::string render_gradescope(const nlohmann::json& report) { return written(report, ""); }

std::string render_gradescope_partial(const nlohmann::json& report, std::size_t finished, std::size_t total) {
  return written(report, fmt::format("Unfinished: {} of {} cases have run so far; what has not run counts 0 points.\n",
                                     finished, total));
}

}  // namespace labrig::reports
