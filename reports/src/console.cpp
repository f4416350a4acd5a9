// The same report in a terminal: score, a line a check, and for each lost one why and what to try. Nothing that a
// submission printed or named can reach the terminal as a control sequence (model.hpp).
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <sstream>

#include "causes.hpp"
#include "model.hpp"
#include "render.hpp"
#include "units.hpp"

namespace labrig::reports {
namespace {

constexpr std::size_t kWidth = 96;

struct Style {
  std::string_view word, colour;
};
Style style_of(std::string_view status) {
  if (status == "passed") return {"pass", "32"};
  if (status == "partial") return {"part", "33"};
  if (status == "failed") return {"FAIL", "31"};
  if (status == "skipped") return {"skip", "2"};
  return {"void", "35"};
}

std::string painted(std::string_view text, std::string_view colour, bool color) {
  return color ? fmt::format("\x1b[{}m{}\x1b[0m", colour, text) : std::string(text);
}

// "    9 | int f()" and "      | ^~~": code of a compiler's message, whose marks must stay below what they mark.
bool is_code(const std::string& line) {
  const std::size_t bar = line.find_first_not_of(" 0123456789");
  return bar != std::string::npos && bar > 1 && line[bar] == '|';
}

// Words on lines of kWidth, each indented; newlines of the text are kept.
std::string wrapped(const std::string& text, const std::string& first_indent, const std::string& indent) {
  std::string out;
  std::istringstream lines(text);
  bool first = true;
  for (std::string line; std::getline(lines, line);) {
    std::string row = first ? first_indent : indent;
    first = false;
    if (is_code(line)) {
      out += row + line + "\n";
      continue;
    }
    std::size_t filled = 0;
    std::istringstream words(line);
    for (std::string word; words >> word;) {
      if (filled > 0 && row.size() + 1 + word.size() > kWidth) {
        out += row + "\n";
        row = indent;
        filled = 0;
      }
      if (filled > 0) row += ' ';
      row += word;
      ++filled;
    }
    out += row + "\n";
  }
  return out;
}

std::string bar(double share, double pass_mark) {
  constexpr int kCells = 30;
  const int filled = static_cast<int>(std::clamp(share, 0.0, 1.0) * kCells + 0.5);
  const int mark = static_cast<int>(std::clamp(pass_mark, 0.0, 1.0) * kCells + 0.5);
  std::string out;
  for (int i = 0; i < kCells; ++i) out += i == mark ? '|' : i < filled ? '#' : '.';
  return fmt::format("[{}]", out);
}

// "  FAIL  bytes-up                 0 / 15  " and what follows on the line.
std::string line_of(const Check& check, bool color, const std::string& rest) {
  const Style style = style_of(check.status);
  const std::string points = fmt::format("{:>5} / {}", points_text(check.points), points_text(check.max_points));
  std::string out =
      fmt::format("  {}  {:<22} {:<12}{}", painted(style.word, style.colour, color), check.id, points, rest);
  out.erase(out.find_last_not_of(' ') + 1);
  return out + '\n';
}

std::string full_text(const Check& check, bool color) {
  if (check.status == "passed") return line_of(check, color, "");
  std::string out = line_of(check, color, check.title);
  out += wrapped(check.reason.text, "        ", "        ");
  if (lost(check) && check.explain) {
    out += wrapped(check.explain->next, "        try: ", "             ");
  }
  return out;
}

// The hazards of the first case that has some; where no hazard was recorded, why a case counts as one.
std::string hazards(const Report& report) {
  constexpr std::size_t kGroups = 3;
  for (const Case& one : report.cases) {
    if (one.hazards.empty()) continue;
    std::string out = fmt::format("\nhazards in {}:\n", one.id);
    for (std::size_t i = 0; i < one.hazards.size() && i < kGroups; ++i) {
      const Hazard& hazard = one.hazards[i];
      out += hazard.text.empty() ? "  " + hazard.kind + "\n" : wrapped(hazard.text, "  ", "    ");
    }
    if (one.hazards.size() > kGroups)
      out += fmt::format("  … {} more kinds: labrig check --json, or the report\n", one.hazards.size() - kGroups);
    return out;
  }
  for (const Case& one : report.cases)
    if (one.status == "hazard")
      return fmt::format("\nhazard in {}:\n", one.id) + wrapped(one.reason.text, "  ", "    ");
  return {};
}

// The first lines that the submission itself printed, of the first case in which it did.
std::string printed(const Report& report) {
  constexpr int kLines = 10;
  for (const Case& one : report.cases) {
    if (one.output.empty()) continue;
    std::string out = fmt::format("\nprinted in {}:\n", one.id);
    std::istringstream lines(one.output);
    int count = 0;
    for (std::string line; std::getline(lines, line); ++count)
      if (count < kLines) out += "  | " + line.substr(0, kWidth) + "\n";
    if (count > kLines) out += fmt::format("  | … {} more lines: labrig check --json, or the report\n", count - kLines);
    return out;
  }
  return {};
}

}  // namespace

std::string render_console(const nlohmann::json& json, bool color) {
  const Report report = read_report(json);
  std::string out = fmt::format("{} {} · {}\n", report.lab_id, report.lab_version, report.name);
  if (report.score) {
    const std::string state = report.passed ? "passed" : "not passed";
    const double most = report.max_score > 0 ? report.max_score : 1;
    out += fmt::format("{}  {} / {}  {}  pass mark {}\n", painted(state, report.passed ? "1;32" : "1;31", color),
                       points_text(*report.score), points_text(report.max_score),
                       bar(*report.score / most, report.pass_mark / 100), points_text(report.pass_mark));
  } else {
    out += painted("no score", "1;35", color) + "  the run ended in a fault that is not the submission's\n";
  }
  out += wrapped(report.verdict, "", "");
  out += '\n';
  const auto causes = causes_of(report);
  for (const Check& check : report.checks) {
    const Check* cause = causes.at(&check);
    out += cause == &check ? full_text(check, color) : line_of(check, color, "lost with " + cause->id);
  }
  out += hazards(report);
  out += printed(report);
  if (report.next_step) {
    out += '\n';
    out += wrapped(report.next_step->text, painted("next: ", "1", color), "      ");
    if (!report.next_step->command.empty()) out += "      " + report.next_step->command + "\n";
  }
  return out;
}

}  // namespace labrig::reports
