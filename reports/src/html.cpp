// The page as a whole: verdict, score, the one next step; then checks, cases, and how to run it again.
#include "html.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "causes.hpp"
#include "history.hpp"
#include "page_data.hpp"
#include "short_texts.hpp"
#include "svg/bars.hpp"
#include "template.hpp"
#include "text.hpp"
#include "units.hpp"

namespace labrig::reports {
namespace {

using Json = nlohmann::json;

Json task_views(const Report& report) {
  Json out = Json::array();
  for (const Task& task : report.tasks) {
    double points = 0, most = 0;
    for (const Check& check : report.checks) {
      if (check.task != task.id || check.status == "skipped") continue;
      points += check.points;
      most += check.max_points;
    }
    out.push_back(
        {{"number", task.id}, {"title", task.title}, {"points", points_text(points)}, {"max", points_text(most)}});
  }
  return out;
}

Json next_step_view(const Report& report) {
  if (!report.next_step) return false;
  const auto check = std::find_if(report.checks.begin(), report.checks.end(),
                                  [&](const Check& c) { return c.id == report.next_step->check; });
  const bool known = check != report.checks.end();
  return {{"text", report.next_step->text},
          {"command", report.next_step->command},
          {"check_link", known ? anchor(check->id) : ""},
          {"check_title", known ? check->title : ""}};
}

// The case to look at first: the one that decided the first check that lost points, else the first with a trace.
std::string_view case_to_open(const Report& report) {
  for (const std::string_view status : {"failed", "partial"}) {
    for (const Check& check : report.checks) {
      if (check.status == status && !check.cases.empty()) return deciding_case(check);
    }
  }
  const auto traced = std::find_if(report.cases.begin(), report.cases.end(),
                                   [](const Case& c) { return c.submission_trace.has_value(); });
  return traced == report.cases.end() ? std::string_view() : std::string_view(traced->id);
}

Json environment_view(const Report& report) {
  Json out = Json::array();
  for (const auto& [name, value] : report.environment) out.push_back({{"name", name}, {"value", value}});
  return out;
}

// Who may see the page, where it makes a difference.
std::string audience_of(const Report& report) {
  const auto hidden = [](const Case& c) { return c.hidden; };
  if (std::none_of(report.cases.begin(), report.cases.end(), hidden)) return "";
  return report.students_copy
             ? "The student's copy: of hidden cases it shows name, status, reason and counts, not their sizes and data."
             : "The instructor's copy: it shows hidden cases whole. Students get report.student.html.";
}

// Large texts are put in after the template is filled; no text of a report has a control character.
constexpr std::string_view kDataMark = "\1data", kDataNoteMark = "\1note", kDataWholeMark = "\1whole";

void put(std::string& page, std::string_view mark, std::string_view text) {
  if (const std::size_t at = page.find(mark); at != std::string::npos) page.replace(at, mark.size(), text);
}

// Everything but the data.
std::string page_of(const Json& json, const HtmlOptions& options) {
  const Report report = read_report(json);
  const double most = report.max_score > 0 ? report.max_score : 1;
  const std::string score = report.score ? points_text(*report.score) : "";
  const bool open_secret = report.secret.empty() || report.secret == "public" || report.secret == "labrig";
  const Json tasks = task_views(report);
  const std::optional<Report> before =
      options.previous != nullptr ? std::optional(read_report(*options.previous)) : std::nullopt;
  Json view = {
      {"page_title",
       fmt::format("{}: {} · {}", report.name,
                   report.score ? score + " of " + points_text(report.max_score) : "no score", report.lab_title)},
      {"lab_title", report.lab_title},
      {"lab_version", report.lab_version},
      {"name", report.name},
      {"hash", report.hash},
      {"hash_short", report.hash.substr(0, 10)},
      {"source", report.source == "plugin" ? "plugin" : "sources"},
      {"verdict", report.verdict.empty() ? "No verdict" : report.verdict},
      {"has_score", report.score.has_value()},
      {"score", score},
      {"max_score", points_text(report.max_score)},
      {"pass_mark", points_text(report.pass_mark)},
      {"state", report.passed ? "passed" : "failed"},
      {"state_word", report.passed ? "passed" : "not passed"},
      {"score_bar",
       report.score ? svg::score_bar(*report.score / most, report.passed, report.pass_mark / 100, "score") : ""},
      {"tasks", tasks},
      {"has_tasks", !tasks.empty()},
      {"next_step", next_step_view(report)},
      {"groups", check_groups(report, before, options)},
      {"cases", case_views(report, case_to_open(report))},
      {"case_count", report.cases.size()},
      {"has_cases", !report.cases.empty()},
      {"replay",
       fmt::format("labrig grade {} --lab {} --out again", shell_word(report.name), shell_word(report.lab_id))},
      {"replay_note",
       open_secret
           ? "Hidden sizes and data were drawn from the public secret, so the score is the same on every machine."
           : fmt::format("Hidden sizes and data were drawn from the course secret {}; with another secret their "
                         "figures differ a little, the score should not.",
                         report.secret)},
      {"environment", environment_view(report)},
      {"notes", report.notes},
      {"audience", audience_of(report)},
      {"history", history_view(before, report)},
      {"data", kDataMark},
      {"data_whole", kDataWholeMark},
      {"data_note", kDataNoteMark}};
  return fill("report.mustache", view);
}

// Texts of a usual report stay whole; those that make a page too large to open at once are cut, and further if need be.
constexpr TextLimits kShorter[] = {{1'000, 4'096}, {200, 1'024}, {60, 256}, {20, 128}};

// A page may be large for other reasons than its texts (hundreds of checks): then little is gained, and nothing is cut.
std::string small_page_of(const Json& json, const HtmlOptions& options, bool& cut) {
  std::string whole = page_of(json, options), page;
  cut = whole.size() > kPageLimit;
  if (!cut) return whole;
  for (const TextLimits& limits : kShorter) {
    page = page_of(with_short_texts(json, limits), options);
    if (page.size() <= kPageLimit) return page;
  }
  cut = page.size() < whole.size() / 2;
  return cut ? page : whole;
}

}  // namespace

std::string render_html(const Json& json, const HtmlOptions& options) {
  bool cut = false;
  std::string page = small_page_of(json, options, cut);
  bool whole = true;
  const std::string data = page_data(json, page.size(), whole);
  put(page, kDataWholeMark, whole ? " data-whole=\"yes\"" : "");
  const std::string note =
      whole            ? "The report that this page was made from is in it, whole."
      : data == "null" ? "The report that this page was made from is too large to be in it: it is in report.json."
                       : "The report that this page was made from is in it, shortened: timelines, and in a very large "
                         "one curves and "
                         "output, are in report.json alone.";
  put(page, kDataNoteMark, cut ? "Long texts are cut in this page: report.json has them whole. " + note : note);
  put(page, kDataMark, data);
  return page;
}

}  // namespace labrig::reports
