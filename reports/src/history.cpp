#include "history.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "causes.hpp"
#include "text.hpp"
#include "units.hpp"

namespace labrig::reports {
namespace {

using Json = nlohmann::json;

constexpr std::size_t kMetricRows = 30;

std::string counted(std::size_t count, std::string_view word) {
  return count == 0 ? "" : fmt::format(", {} {}", count, word);
}

std::string signed_change(double before, double now) {
  if (before == 0) return "from 0";
  return fmt::format("{:+.1f} %", (now - before) / before * 100);
}

// The metrics of one case that are not what they were.
void add_metrics(const Case& before, const Case& now, Json& rows, std::size_t& left_out) {
  for (const auto& [name, value] : now.metrics) {
    const std::optional<double> old = find(before.metrics, name);
    if (!old || *old == value) continue;
    if (rows.size() >= kMetricRows) {
      ++left_out;
      continue;
    }
    const MetricInfo info = metric_info(name);
    rows.push_back({{"anchor", anchor(now.id)},
                    {"case", now.id},
                    {"label", info.label},
                    {"before", human(*old, info.unit)},
                    {"now", human(value, info.unit)},
                    {"change", signed_change(*old, value)}});
  }
}

Json metric_rows(const Report& before, const Report& now, std::size_t& left_out) {
  Json rows = Json::array();
  for (const Case& one : now.cases) {
    const auto old =
        std::find_if(before.cases.begin(), before.cases.end(), [&](const Case& c) { return c.id == one.id; });
    if (old != before.cases.end()) add_metrics(*old, one, rows, left_out);
  }
  return rows;
}

}  // namespace

const Check* find_check(const Report& report, std::string_view id) {
  const auto found =
      std::find_if(report.checks.begin(), report.checks.end(), [&](const Check& check) { return check.id == id; });
  return found == report.checks.end() ? nullptr : &*found;
}

std::string change_of(const Check* before, const Check& now) {
  if (before == nullptr) return "";
  const bool was = lost(*before), is = lost(now);
  if (was && now.status == "passed") return "fixed";
  if (is && before->status == "passed") return "new failure";
  if (!was || !is) return "";
  if (now.points != before->points) return now.points > before->points ? "better" : "worse";
  return "still failing";
}

Json history_view(const std::optional<Report>& before, const Report& now) {
  if (!before) return false;
  if (before->lab_id != now.lab_id || before->lab_version != now.lab_version)
    return {{"sentence", fmt::format("The earlier report is of {} {}, this one of {} {}: they are not compared.",
                                     before->lab_id, before->lab_version, now.lab_id, now.lab_version)},
            {"checks", Json::array()},
            {"has_checks", false},
            {"metrics", Json::array()},
            {"has_metrics", false},
            {"more", ""}};
  Json checks = Json::array();
  std::size_t fixed = 0, broken = 0, still = 0;
  for (const Check& check : now.checks) {
    const Check* const old = find_check(*before, check.id);
    const std::string change = change_of(old, check);
    fixed += change == "fixed" ? 1 : 0;
    broken += change == "new failure" ? 1 : 0;
    still += old != nullptr && lost(*old) && lost(check) ? 1 : 0;
    if (change.empty() || change == "still failing") continue;
    checks.push_back({{"anchor", anchor(check.id)},
                      {"title", check.title},
                      {"change", change},
                      {"before", points_text(old->points)},
                      {"now", points_text(check.points)},
                      {"max", points_text(check.max_points)}});
  }
  const auto score_of = [](const Report& report) {
    return report.score ? points_text(*report.score) : std::string("no score");
  };
  std::size_t left_out = 0;
  const Json metrics = metric_rows(*before, now, left_out);
  const std::string counts = counted(fixed, "fixed") + counted(broken, broken == 1 ? "new failure" : "new failures") +
                             counted(still, "still failing");
  return {{"sentence", fmt::format("{} → {} points{}.", score_of(*before), score_of(now),
                                   counts.empty() ? ", nothing changed" : counts)},
          {"checks", checks},
          {"has_checks", !checks.empty()},
          {"metrics", metrics},
          {"has_metrics", !metrics.empty()},
          {"more", left_out == 0 ? "" : fmt::format("and {} more figures", left_out)}};
}

}  // namespace labrig::reports
