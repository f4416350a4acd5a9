// The report for a comment on GitHub, or for the page of a step. Nothing of a submission or a lab has a meaning here: a
// text is either in a code span of harmless characters, in a fence longer than any run of backticks in it, or escaped
// (markdown_text.hpp) and never at the start of a line.
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string_view>

#include "causes.hpp"
#include "format_renderers.hpp"
#include "markdown_text.hpp"
#include "model.hpp"
#include "text.hpp"
#include "units.hpp"

namespace labrig::reports {
namespace {

using namespace markdown;

// Blocks and rows, each section up to its share of the limit. What does not fit is counted.
class Page {
 public:
  explicit Page(std::size_t limit) : limit_(limit) {}
  bool add(const std::string& piece, double share) {
    const bool fits = static_cast<double>(text_.size() + piece.size()) <= share * static_cast<double>(limit_);
    if (fits) text_ += piece;
    return fits;
  }
  std::string take() && { return std::move(text_); }

 private:
  std::size_t limit_;
  std::string text_;
};
// The table may fill half the page, what is said of lost points most of the rest; a note finds room behind each.
constexpr double kTable = 0.5, kTableNote = 0.51, kLost = 0.85, kLostNote = 0.86, kPrinted = 0.95, kEnd = 1;

// Of names: so much that all of the heading fits on any page, whatever has to be escaped in it.
std::string brief(const std::string& name) { return code(printable(name, Lines::one, 300)); }

std::string heading(const Report& report) {
  std::string out =
      fmt::format("## Lab {} {}: {}\n\n", brief(report.lab_id), brief(report.lab_version), brief(report.name));
  out += fmt::format("**Verdict:** {}\n\n", escaped(report.verdict));
  if (report.score) {
    out += fmt::format("**Score:** {} / {}, {} (pass mark {} %)\n", points_text(*report.score),
                       points_text(report.max_score), report.passed ? "passed" : "not passed",
                       points_text(report.pass_mark));
  } else {
    out += "**Score:** none; the run ended in a fault that is not the submission's\n";
  }
  return out;
}

std::string next_step(const Report& report) {
  if (!report.next_step) return {};
  std::string out = fmt::format("\n**Next:** {}\n", escaped(report.next_step->text));
  if (!report.next_step->command.empty()) out += "\n" + fenced(report.next_step->command, "sh");
  return out;
}

std::string_view word_of(std::string_view status) {
  for (const std::string_view known : {"passed", "partial", "failed", "skipped"})
    if (status == known) return known;
  return "fault";
}

void add_table(const Report& report, Page& page) {
  if (report.checks.empty()) return;
  page.add("\n### Checks\n\n| Check | Task | Result | Points | What holds |\n|---|--:|---|--:|---|\n", kTable);
  std::size_t left_out = 0;
  for (const Check& check : report.checks) {
    const std::string row = fmt::format("| {} | {} | {} | {} / {} | {}{} |\n", code(check.id), check.task,
                                        word_of(check.status), points_text(check.points), points_text(check.max_points),
                                        escaped(check.title), check.hidden ? " (hidden)" : "");
    if (left_out > 0 || !page.add(row, kTable)) ++left_out;
  }
  if (left_out > 0)
    page.add(fmt::format("| … | | | | {} more {} not fit here: report.json has all of it |\n", left_out,
                         left_out == 1 ? "check does" : "checks do"),
             kTableNote);
}

std::string point(std::string_view label, const std::string& text) {
  return text.empty() ? std::string() : fmt::format("- **{}:** {}\n", label, escaped(text));
}

std::string explanation(const Check& check, const Check& cause) {
  std::string out = fmt::format("\n#### {}: {}\n\n", code(check.id), escaped(check.title));
  if (&cause != &check) return out + fmt::format("- **Cause:** lost with {}\n", code(cause.id));
  // The evidence often quotes the reason.
  if (!check.explain || check.explain->evidence != check.reason.text) out += point("Reason", check.reason.text);
  if (!check.explain) return out;
  const Explain& e = *check.explain;
  return out + point("What", e.what) + point("Where", e.where) + point("Cause", e.cause) + point("Next", e.next) +
         point("Evidence", e.evidence);
}

void add_lost(const Report& report, Page& page) {
  const auto causes = causes_of(report);
  std::size_t told = 0, left_out = 0;
  for (const Check& check : report.checks) {
    if (!lost(check)) continue;
    const std::string head = told + left_out == 0 ? "\n### Lost points\n" : "";
    const bool fits = left_out == 0 && page.add(head + explanation(check, *causes.at(&check)), kLost);
    ++(fits ? told : left_out);
  }
  if (left_out > 0)
    page.add(fmt::format("\nWhy {} {} points does not fit here: report.json has all of it.\n", left_out,
                         told == 0 ? "checks lost" : "more checks lost"),
             kLostNote);
}

// What kept labrig from grading, each reason once with the checks that it stopped.
void add_faults(const Report& report, Page& page) {
  std::vector<std::pair<std::string, std::vector<std::string>>> reasons;
  for (const Check& check : report.checks) {
    if (word_of(check.status) != "fault" || check.reason.text.empty()) continue;
    const auto same =
        std::find_if(reasons.begin(), reasons.end(), [&](const auto& r) { return r.first == check.reason.text; });
    (same == reasons.end() ? reasons.emplace_back(check.reason.text, std::vector<std::string>()) : *same)
        .second.push_back(code(check.id));
  }
  if (reasons.empty()) return;
  std::string block = "\n### Why there are no points\n\n";
  for (const auto& [reason, checks] : reasons) {
    const std::string others = checks.size() == 1 ? "" : fmt::format(" and {} more", checks.size() - 1);
    block += fmt::format("- {}{}: {}\n", checks[0], others, escaped(reason));
  }
  if (!page.add(block, kLost))
    page.add("\nWhy labrig could not grade does not fit here: report.json has it.\n", kLostNote);
}

// The first lines of the first case in which the submission printed something.
std::string printed(const Report& report) {
  constexpr int kLines = 20;
  for (const Case& one : report.cases) {
    if (one.output.empty()) continue;
    std::string head;
    std::istringstream lines(one.output);
    int count = 0;
    for (std::string line; std::getline(lines, line); ++count)
      if (count < kLines) head += line + "\n";
    std::string out = fmt::format("\n### Printed in {}\n\n{}", code(one.id), fenced(head, "text"));
    if (count > kLines) out += fmt::format("\n… {} more lines: see the report\n", count - kLines);
    return out;
  }
  return {};
}

void add_printed(const Report& report, Page& page) {
  const std::string block = printed(report);
  if (!page.add(block, kPrinted))
    page.add("\nWhat the submission printed does not fit here: report.json has it.\n", kPrinted);
}

void add_environment(const Report& report, Page& page) {
  if (report.environment.empty() && report.notes.empty()) return;
  std::string block = "\n### Environment\n\n| | |\n|---|---|\n";
  for (const auto& [name, value] : report.environment) block += fmt::format("| {} | {} |\n", name, escaped(value));
  if (!report.hash.empty()) block += fmt::format("| submission | {} |\n", code(report.hash));
  if (!report.notes.empty()) block += "\n";
  for (const std::string& note : report.notes) block += point("Note", note);
  if (!page.add(block, kEnd)) page.add("\nThe environment does not fit here: report.json has it.\n", kEnd);
}

}  // namespace

std::string render_markdown(const nlohmann::json& json, std::size_t limit) {
  const Report report = read_report(json);
  Page page(limit);
  page.add(heading(report), kEnd);
  page.add(next_step(report), kEnd);
  add_table(report, page);
  add_lost(report, page);
  add_faults(report, page);
  add_printed(report, page);
  add_environment(report, page);
  return std::move(page).take();
}

}  // namespace labrig::reports
