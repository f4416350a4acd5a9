// Renderings of report.json (schema: ../schema/report-1.schema.json). Each is a pure function of the report: nothing
// here computes a score, reads a file or looks at the clock. Every text of the report is made safe in one place
// (text.hpp) before it is shown. Read next: model.hpp (the report as types), html.cpp (the page).
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

namespace labrig::reports {

struct HtmlOptions {
  // Where the lab's handout lies, as a relative path or an https address; checks link to their anchors in it. When
  // empty, the section is named without a link.
  std::string handout;
  // The report of an earlier run of the same lab, to say what changed since; null when there is none.
  const nlohmann::json* previous = nullptr;
};

// One self-contained page: no script, no other file, light and dark. Throws nlohmann::json::exception when `report` is
// not an object; whatever else is missing is left out of the page.
std::string render_html(const nlohmann::json& report, const HtmlOptions& options = {});

// One row of an overview: a submission of a class, or a variant of a demo.
struct IndexRow {
  std::string lab, name;
  std::string role;             // "solution", "starter", "alternate", "flawed"; empty in a class
  std::string link;             // relative path of the report; empty: no link
  std::optional<double> score;  // nothing: a fault of the harness
  double max_score = 100;
  bool passed = false;
  std::string verdict;
  std::vector<std::string> lost;  // titles or ids of the checks that lost points
  std::string expected;           // what was expected of this row, in words; empty: nothing was
  std::optional<bool> matched;    // whether it came so
};
// A row filled from a report: everything but role, expected and matched.
IndexRow index_row(const nlohmann::json& report, const std::string& link);

struct IndexOptions {
  std::string title = "Reports";
  std::string subtitle;
};
std::string render_index(const std::vector<IndexRow>& rows, const IndexOptions& options = {});

// The student's copy: hidden cases without parameters, seed, trace, output and the text of their reasons; hidden checks
// without text. Those texts are taken out wherever else they are quoted.
nlohmann::json student_view(const nlohmann::json& report);

// A short text for a terminal, ending in a newline.
std::string render_console(const nlohmann::json& report, bool color);

// Every other format, a function a file: formats.hpp.

}  // namespace labrig::reports
