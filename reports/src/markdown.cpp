// The report as GitHub-flavoured Markdown: for a step's page, an issue, a chat. Every text of a submission or a lab is
// written so that it shows as it is: no mark-up, no HTML, no mention, no link comes from it.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "causes.hpp"
#include "check_words.hpp"
#include "format_renderers.hpp"
#include "units.hpp"

namespace labrig::reports {
namespace {

// As text on one line. "@" and "#" get an invisible companion, for GitHub links people and issues even where they are
// escaped; "://" is taken apart for the same reason.
std::string inline_text(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '\n' || c == '\t') {
      out += ' ';
    } else if (c == '<') {
      out += "&lt;";
    } else if (c == '>') {
      out += "&gt;";
    } else if (c == '&') {
      out += "&amp;";
    } else if (c == '@' || c == '#') {
      out += fmt::format("&#{};", static_cast<int>(c));
    } else if (c == ':') {
      out += "&#58;";
    } else if (std::string_view("\\`*_{}[]()+-.!|~$^=").find(c) != std::string_view::npos) {
      out += '\\';
      out += c;
    } else {
      out += c;
    }
  }
  return out;
}

// As code where it is a plain word or command; what is not is a text like others.
std::string code(const std::string& text) {
  const bool plain = !text.empty() && text.find_first_of("`<>|@#&\n") == std::string::npos;
  return plain ? "`" + text + "`" : inline_text(text);
}

const char* mark_of(const Check& check) {
  if (check.status == "passed") return "✅ passed";
  if (check.status == "partial") return "🟡 partial";
  if (check.status == "failed") return "❌ failed";
  return check.status == "skipped" ? "⚪ skipped" : "⚠️ fault";
}

std::string table(const Report& report) {
  std::string out = "| check | points | status | |\n|---|---:|---|---|\n";
  for (const Check& check : report.checks)
    out += fmt::format("| {} | {} / {} | {} | {} |\n", code(check.id), points_text(check.points),
                       points_text(check.max_points), mark_of(check), inline_text(check.title));
  return out;
}

std::string loss(const Check& check) {
  std::string out = fmt::format("### {} · {}\n\n", code(check.id), inline_text(check.title));
  const auto add = [&](const char* term, const std::string& text) {
    if (!text.empty()) out += fmt::format("- **{}**: {}\n", term, inline_text(text));
  };
  if (check.explain) {
    add("What happened", check.explain->what.empty() ? check.reason.text : check.explain->what);
    add("Where", check.explain->where);
    add("Likely cause", check.explain->cause);
    add("Try next", check.explain->next);
    add("Evidence", check.explain->evidence);
  } else {
    add("Why", check.reason.text);
  }
  return out + "\n";
}

}  // namespace

std::string render_markdown(const nlohmann::json& json) {
  const Report report = read_report(json);
  const std::string score = report.score
                                ? fmt::format("{} of {} points, {}", points_text(*report.score),
                                              points_text(report.max_score), report.passed ? "passed" : "not passed")
                                : "no score";
  std::string out =
      fmt::format("## {}: {}\n\n{}\n\n", inline_text(report.lab_title), score, inline_text(report.verdict));
  if (report.next_step) {
    out += fmt::format("**Next step.** {}\n\n", inline_text(report.next_step->text));
    if (!report.next_step->command.empty()) out += code(report.next_step->command) + "\n\n";
  }
  if (!report.checks.empty()) out += table(report) + "\n";
  const auto causes = causes_of(report);
  for (const Check& check : report.checks)
    if ((lost(check) || check.status == "fault") && causes.at(&check) == &check) out += loss(check);
  out += fmt::format("<sub>{} {} · submission {} · hash {}</sub>\n", inline_text(report.lab_id),
                     inline_text(report.lab_version), inline_text(report.name), inline_text(report.hash.substr(0, 10)));
  return out;
}

}  // namespace labrig::reports
