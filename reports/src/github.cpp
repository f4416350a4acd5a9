// What GitHub Actions reads: the page of a step, and commands in its log that put messages at a file. Nothing of a
// submission can add a command of its own: every text is escaped as the command's data, and stands behind it.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "causes.hpp"
#include "check_words.hpp"
#include "format_renderers.hpp"
#include "formats.hpp"
#include "units.hpp"

namespace labrig::reports {
namespace {

constexpr int kMostOfAKind = 10;                  // a step shows no more errors, and no more warnings
constexpr std::size_t kSummaryLimit = 1'000'000;  // GitHub takes 1 MiB, or nothing at all
constexpr std::string_view kCut =
    "\n\n*The rest is left out: a step's page may have 1 MiB. The whole report is report.html.*\n";

std::string data_text(std::string_view text) {
  std::string out;
  for (const char c : text) out += c == '%' ? "%25" : c == '\r' ? "%0D" : c == '\n' ? "%0A" : std::string(1, c);
  return out;
}

std::string property_text(std::string_view text) {
  std::string out;
  for (const char c : data_text(text)) out += c == ':' ? "%3A" : c == ',' ? "%2C" : std::string(1, c);
  return out;
}

}  // namespace

std::string render_github_summary(const nlohmann::json& report) {
  std::string text = render_markdown(report);
  if (text.size() <= kSummaryLimit) return text;
  std::size_t end = text.rfind('\n', kSummaryLimit - kCut.size());
  if (end == std::string::npos) end = 0;
  return text.substr(0, end) + std::string(kCut);
}

std::string github_annotations(const nlohmann::json& json, std::string_view file) {
  const Report report = read_report(json);
  const auto causes = causes_of(report);
  std::string out;
  int errors = 0, warnings = 0;
  for (const Check& check : report.checks) {
    const bool failed = check.status == "failed" || check.status == "fault";
    if ((!failed && check.status != "partial") || causes.at(&check) != &check) continue;
    if (++(failed ? errors : warnings) > kMostOfAKind) continue;
    const std::string place = file.empty() ? "" : fmt::format("file={},line=1,", property_text(file));
    const std::string title = fmt::format("{}: {}", check.id, points_in_words(check));
    out += fmt::format("::{} {}title={}::{}\n", failed ? "error" : "warning", place, property_text(title),
                       data_text(check.title + "\n" + loss_in_words(check)));
  }
  const std::string score =
      report.score ? fmt::format("{} of {} points", points_text(*report.score), points_text(report.max_score))
                   : "no score";
  return out +
         fmt::format("::notice title={}::{}\n", property_text(report.lab_id + ": " + score), data_text(report.verdict));
}

}  // namespace labrig::reports
