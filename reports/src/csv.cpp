// A row a check, with what identifies the run in front, so that the files of a class can be joined. UTF-8 without a
// byte-order mark: it would become part of the first column's name, and stand between files that are joined.
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string_view>

#include "format_renderers.hpp"
#include "model.hpp"

namespace labrig::reports {
namespace {

// Each newline with the blanks around it becomes one blank: programs that read line by line see a row a line.
std::string on_one_line(std::string_view text) {
  std::string out;
  bool skip = false;
  for (const char c : text) {
    if (c == '\n' || c == '\r') {
      out.erase(out.find_last_not_of(' ') + 1);
      out += ' ';
      skip = true;
    } else if (!skip || c != ' ') {
      out += c;
      skip = false;
    }
  }
  return out;
}

// Spreadsheets run cells that start so; the apostrophe says that it is text. Some skip blanks in front; where signs of
// full width are usual (U+FF1D, U+FF0B, U+FF0D, U+FF20), those start a formula too.
bool like_a_formula(std::string_view text) {
  text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
  if (text.empty()) return false;
  if (std::string_view("=+-@\t\r").find(text.front()) != std::string_view::npos) return true;
  constexpr std::string_view kWide[] = {"\xef\xbc\x9d", "\xef\xbc\x8b", "\xef\xbc\x8d", "\xef\xbc\xa0"};
  return std::ranges::any_of(kWide, [&](std::string_view sign) { return text.starts_with(sign); });
}

std::string cell(std::string_view raw) {
  std::string text = on_one_line(raw);
  if (like_a_formula(text) || like_a_formula(raw)) text.insert(0, 1, '\'');
  // Semicolons and tabs: some spreadsheets split there.
  const bool blank_ends = !text.empty() && (text.front() == ' ' || text.back() == ' ');
  if (!blank_ends && text.find_first_of(",;\"\t") == std::string::npos) return text;
  std::string out = "\"";
  for (const char c : text) out += c == '"' ? std::string("\"\"") : std::string(1, c);
  return out + '"';
}

}  // namespace

std::string render_csv(const nlohmann::json& json) {
  const Report report = read_report(json);
  std::string out =
      "lab,version,submission,hash,check,task,title,status,points,max_points,reason_code,reason_text,visibility\r\n";
  const std::string run =
      fmt::format("{},{},{},{}", cell(report.lab_id), cell(report.lab_version), cell(report.name), cell(report.hash));
  for (const Check& check : report.checks) {
    out += fmt::format("{},{},{},{},{},{},{},{},{},{}\r\n", run, cell(check.id), check.task, cell(check.title),
                       cell(check.status), check.points, check.max_points, cell(check.reason.code),
                       cell(check.reason.text), check.hidden ? "hidden" : "visible");
  }
  return out;
}

}  // namespace labrig::reports
