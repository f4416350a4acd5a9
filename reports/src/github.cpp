// What GitHub Actions reads in its log: commands that put messages at a file. The page of a step is the Markdown
// report. Nothing of a submission can add a command of its own: every text is escaped as the command's data, and stands
// behind it.
#include <fmt/format.h>

#include <cctype>
#include <nlohmann/json.hpp>

#include "causes.hpp"
#include "check_words.hpp"
#include "format_renderers.hpp"
#include "formats.hpp"
#include "text.hpp"
#include "units.hpp"

namespace labrig::reports {
namespace {

constexpr std::size_t kTitleBytes = 150;  // of an id in a title, which may have 255 characters

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

std::string replaced(std::string_view text, std::string_view what, std::string_view by) {
  std::string out;
  for (std::size_t at = text.find(what); at != std::string_view::npos; at = text.find(what)) {
    out += text.substr(0, at);
    out += by;
    text.remove_prefix(at + what.size());
  }
  return out += text;
}

}  // namespace

std::string without_commands(std::string_view text) {
  const std::string apart = replaced(text, "##[", "## [");
  std::string out;
  bool starts = true;  // nothing but blanks so far on this line, or what may be a blank that is not ASCII
  for (std::size_t i = 0; i < apart.size(); ++i) {
    const char c = apart[i];
    out += c;
    if (starts && c == ':' && i + 1 < apart.size() && apart[i + 1] == ':') out += ' ';
    const auto byte = static_cast<unsigned char>(c);
    starts = c == '\n' || c == '\r' || (starts && (byte >= 0x80 || std::isspace(byte) != 0));
  }
  return out;
}

std::string json_without_commands(std::string_view json) { return replaced(json, "##[", "#\\u0023["); }

std::string github_annotations(const nlohmann::json& json, std::string_view file, Readers readers, MessagesLeft& left) {
  const Report report = read_report(readers == Readers::students ? student_view(json) : json);
  const auto causes = causes_of(report);
  std::string out;
  int more = 0;
  for (const Check& check : report.checks) {
    const bool failed = check.status == "failed" || check.status == "fault";
    if ((!failed && check.status != "partial") || causes.at(&check) != &check) continue;
    int& room = failed ? left.errors : left.warnings;
    if (room == 0) {
      ++more;
      continue;
    }
    --room;
    const std::string place = file.empty() ? "" : fmt::format("file={},line=1,", property_text(file));
    const std::string title =
        fmt::format("{}: {}", printable(check.id, Lines::one, kTitleBytes), points_in_words(check));
    out += fmt::format("::{} {}title={}::{}\n", failed ? "error" : "warning", place, property_text(title),
                       data_text(check.title + "\n" + loss_in_words(check)));
  }
  const std::string score =
      report.score ? fmt::format("{} of {} points", points_text(*report.score), points_text(report.max_score))
                   : "no score";
  const std::string rest =
      more == 0 ? ""
                : fmt::format("\n{} more {} on the page of the step", more, more == 1 ? "message is" : "messages are");
  return out + fmt::format("::notice title={}::{}\n",
                           property_text(printable(report.lab_id, Lines::one, kTitleBytes) + ": " + score),
                           data_text(report.verdict + rest));
}

}  // namespace labrig::reports
