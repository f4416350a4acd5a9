// An overview of many reports: one row each, readable as cards on a phone.
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "causes.hpp"
#include "html.hpp"
#include "svg/bars.hpp"
#include "template.hpp"
#include "text.hpp"
#include "units.hpp"

namespace labrig::reports {
namespace {

using Json = nlohmann::json;

std::string joined(const std::vector<std::string>& words) {
  std::string out;
  for (const std::string& word : words) out += (out.empty() ? "" : ", ") + printable(word);
  return out;
}

Json row_view(const IndexRow& row, std::size_t number) {
  const double most = row.max_score > 0 ? row.max_score : 1;
  const std::string_view match = !row.matched ? "" : *row.matched ? "passed" : "failed";
  return {{"lab", printable(row.lab)},
          {"name", printable(row.name)},
          {"role", row.role == row.name ? "" : printable(row.role)},
          {"link", safe_link(row.link)},
          {"score", row.score ? points_text(*row.score) : "–"},
          {"bar",
           row.score ? svg::score_bar(*row.score / most, row.passed, std::nullopt, fmt::format("row-{}", number)) : ""},
          {"state", !row.score   ? "fault"
                    : row.passed ? "passed"
                                 : "failed"},
          {"verdict", printable(row.verdict)},
          {"lost", joined(row.lost)},
          {"expected", printable(row.expected)},
          {"match", match},
          {"match_word", !row.matched   ? ""
                         : *row.matched ? "as expected"
                                        : "not as expected"}};
}

}  // namespace

IndexRow index_row(const Json& json, const std::string& link) {
  const Report report = read_report(json);
  IndexRow row;
  row.lab = report.lab_id;
  row.name = report.name;
  row.link = link;
  row.score = report.score;
  row.max_score = report.max_score;
  row.passed = report.passed;
  row.verdict = report.verdict;
  for (const Check& check : report.checks) {
    if (lost(check)) row.lost.push_back(check.id);
  }
  return row;
}

std::string render_index(const std::vector<IndexRow>& rows, const IndexOptions& options) {
  const auto count_if = [&](auto predicate) { return std::count_if(rows.begin(), rows.end(), predicate); };
  const auto expecting = count_if([](const IndexRow& row) { return row.matched.has_value(); });
  const auto matching = count_if([](const IndexRow& row) { return row.matched.value_or(false); });
  const auto passing = count_if([](const IndexRow& row) { return row.passed; });
  const bool one_lab =
      std::all_of(rows.begin(), rows.end(), [&](const IndexRow& row) { return row.lab == rows.front().lab; });
  Json views = Json::array();
  for (std::size_t i = 0; i < rows.size(); ++i) views.push_back(row_view(rows[i], i));
  return fill("index.mustache",
              {{"page_title", printable(options.title)},
               {"title", printable(options.title)},
               {"subtitle", printable(options.subtitle)},
               {"count", fmt::format("{} {}", rows.size(), rows.size() == 1 ? "report" : "reports")},
               {"passed", fmt::format("{} reached the pass mark", passing)},
               {"matched", expecting == 0 ? "" : fmt::format("{} of {} came out as expected", matching, expecting)},
               {"with_lab", !one_lab},
               {"with_expected", expecting > 0},
               {"rows", views}});
}

}  // namespace labrig::reports
