// A table for spreadsheets and scripts, a row a check: RFC 4180, UTF-8 without a mark (a program reads it the same; a
// spreadsheet is told so when it imports). A cell of text that a spreadsheet would take for a formula gets an
// apostrophe in front, as spreadsheets themselves write it; numbers are written as numbers.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "format_renderers.hpp"
#include "model.hpp"
#include "units.hpp"

namespace labrig::reports {
namespace {

std::string cell(std::string text) {
  if (!text.empty() && std::string_view("=+-@\t\r").find(text.front()) != std::string_view::npos) text.insert(0, "'");
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string out = "\"";
  for (const char c : text) out += c == '"' ? std::string("\"\"") : std::string(1, c);
  return out + "\"";
}

std::string number(double value) { return fmt::format("{:.10g}", value); }

std::string optional_number(const std::optional<double>& value) { return value ? number(*value) : ""; }

std::string row(const Report& report, const Check& check) {
  const std::string cells[] = {cell(report.lab_id),
                               cell(report.lab_version),
                               cell(report.name),
                               cell(report.hash),
                               optional_number(report.score),
                               number(report.max_score),
                               number(static_cast<double>(check.task)),
                               cell(check.id),
                               cell(check.title),
                               cell(check.status),
                               number(check.points),
                               number(check.max_points),
                               cell(check.reason.code),
                               cell(check.reason.text),
                               optional_number(check.metrics.value),
                               optional_number(check.metrics.reference),
                               cell(check.metrics.unit),
                               check.hidden ? "hidden" : "visible"};
  std::string out;
  for (const std::string& one : cells) out += (out.empty() && &one == cells ? "" : ",") + one;
  return out + "\r\n";
}

}  // namespace

std::string render_csv(const nlohmann::json& json) {
  const Report report = read_report(json);
  std::string out =
      "lab,lab_version,submission,hash,score,max_score,task,check,title,status,points,max_points,code,reason,value,"
      "reference,unit,visibility\r\n";
  for (const Check& check : report.checks) out += row(report, check);
  return out;
}

}  // namespace labrig::reports
