#include "supervisor/verdict_json.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "labrig/error.hpp"

namespace labrig::supervisor {

using Json = nlohmann::ordered_json;

namespace {

constexpr std::size_t kMostMismatches = 20, kMostCharts = 4, kMostPoints = 2000;

Json axis_json(const lab::Chart::Axis& axis) {
  return {{"label", axis.label}, {"unit", axis.unit}, {"logarithmic", axis.logarithmic}};
}

// Every `stride`-th point and the last.
Json points_json(const lab::Chart::Line& line, std::size_t stride) {
  Json points = Json::array();
  for (std::size_t i = 0; i < line.points.size(); ++i) {
    const auto& [x, y] = line.points[i];
    if ((i % stride != 0 && i + 1 != line.points.size()) || !std::isfinite(x)) continue;
    points.push_back(Json::array({x, std::isfinite(y) ? Json(y) : Json(nullptr)}));
  }
  return points;
}

bool is_kebab(const std::string& id) {
  const auto fits = [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-'; };
  return !id.empty() && std::ranges::all_of(id, fits) && id.front() != '-' && id.back() != '-' &&
         id.find("--") == std::string::npos;
}

Json chart_json(const lab::Chart& chart) {
  std::size_t points = 0;
  for (const lab::Chart::Line& line : chart.lines) points += line.points.size();
  const std::size_t room = kMostPoints - std::min(kMostPoints / 2, chart.lines.size());  // for the last points
  const std::size_t stride = std::max<std::size_t>(1, (points + room - 1) / room);
  Json lines = Json::array();
  for (const lab::Chart::Line& line : chart.lines) {
    if (line.role != "yours" && line.role != "reference" && line.role != "other")
      throw Error("bad-chart",
                  fmt::format("line '{}' of chart '{}' has the role '{}'", line.label, chart.id, line.role),
                  "there are yours, reference and other", "mend the lab's judge");
    lines.push_back({{"label", line.label}, {"role", line.role}, {"points", points_json(line, stride)}});
  }
  return {{"id", chart.id},          {"title", chart.title},    {"read", chart.read},
          {"x", axis_json(chart.x)}, {"y", axis_json(chart.y)}, {"lines", std::move(lines)}};
}

}  // namespace

Json mismatches_json(const lab::Verdict& verdict) {
  Json json = Json::array();
  for (const auto& [what, comparison] : verdict.mismatches) {
    if (json.size() == kMostMismatches) break;
    const bool clear = !comparison.pattern.empty();
    json.push_back({{"what", what},
                    {"code", comparison.code},
                    {"text", comparison.text},
                    {"wrong", comparison.wrong},
                    {"total", comparison.total},
                    {"pattern", clear ? Json(comparison.pattern) : Json(nullptr)},
                    {"pattern_text", comparison.pattern_text},
                    {"pattern_count", comparison.pattern_count}});
  }
  return json;
}

Json charts_json(const lab::Verdict& verdict) {
  Json json = Json::array();
  std::set<std::string> ids;
  for (const lab::Chart& chart : verdict.charts) {
    if (json.size() == kMostCharts) break;
    if (!is_kebab(chart.id) || !ids.insert(chart.id).second)
      throw Error("bad-chart", fmt::format("a chart has the id '{}'", chart.id),
                  "an id is unique in its case, of small letters, digits and single dashes", "mend the lab's judge");
    json.push_back(chart_json(chart));
  }
  return json;
}

}  // namespace labrig::supervisor
