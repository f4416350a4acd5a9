// Checks as cards. A check that was lost only because of another one is a line under it (causes.hpp).
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "causes.hpp"
#include "facts.hpp"
#include "history.hpp"
#include "html.hpp"
#include "svg/bars.hpp"
#include "text.hpp"
#include "units.hpp"

namespace labrig::reports {
namespace {

using Json = nlohmann::json;

constexpr std::string_view kHintKinds[] = {"a nudge", "the idea", "nearly the answer"};

Json hint_view(const Check& check, std::size_t index) {
  if (index >= check.hints.size()) return false;
  return {{"number", index + 1},
          {"total", check.hints.size()},
          {"kind", index < std::size(kHintKinds) ? kHintKinds[index] : "more"},
          {"text", check.hints[index]},
          {"inner", hint_view(check, index + 1)}};
}

Json explain_view(const Check& check) {
  Json rows = Json::array();
  if (!check.explain) return rows;
  const auto add = [&](std::string_view term, const std::string& text) {
    const bool told = std::any_of(rows.begin(), rows.end(), [&](const Json& row) { return row["text"] == text; });
    if (!text.empty() && !told) rows.push_back({{"term", term}, {"text", text}});
  };
  add("What happened", check.explain->what);
  add("Where", check.explain->where);
  add("Likely cause", check.explain->cause);
  add("Try next", check.explain->next);
  if (check.explain->evidence != check.reason.text) add("Evidence", check.explain->evidence);  // it stands on top
  return rows;
}

// A negative figure (an overlap that costs time) is no multiple of anything.
bool has_ratio(const CheckMetrics& metrics) { return metrics.ratio && metrics.value.value_or(0) >= 0; }

Json evidence_view(const CheckMetrics& metrics) {
  Json rows = Json::array();
  const auto add = [&](std::string_view term, std::optional<double> value, std::string_view unit) {
    if (value) rows.push_back({{"term", term}, {"value", human(*value, unit)}, {"exact", exact(*value, unit)}});
  };
  add("yours", metrics.value, metrics.unit);
  add("reference", metrics.reference, metrics.unit);
  add("limit", metrics.limit, metrics.unit);
  if (has_ratio(metrics)) {
    rows.push_back({{"term", "ratio"}, {"value", ratio_text(*metrics.ratio)}, {"exact", exact(*metrics.ratio, "")}});
  }
  return rows;
}

Json shares_view(const Check& check) {
  Json rows = Json::array();
  for (const Share& share : check.cases) {
    rows.push_back({{"anchor", anchor(share.case_id)},
                    {"case", share.case_id},
                    {"share", percent_text(share.share)},
                    {"code", share.share < 1 ? share.code : ""}});
  }
  return rows;
}

Json line_view(const Check& check) {
  return {{"anchor", anchor(check.id)},
          {"id", check.id},
          {"title", check.title},
          {"status", check.status},
          {"icon", icon_of(check.status)},
          {"points", points_text(check.points)},
          {"max", points_text(check.max_points)}};
}

Json check_view(const Check& check, const HtmlOptions& options, const Json& also, std::string_view also_why) {
  Json view = line_view(check);
  const Json explain = explain_view(check), evidence = evidence_view(check.metrics), shares = shares_view(check);
  const bool repeated = check.explain && check.explain->what == check.reason.text;
  // A limit decides differently from a ratio: bands are only for ratio rules.
  const bool banded = has_ratio(check.metrics) && !check.metrics.limit;
  const std::string link = options.handout.empty() ? "" : safe_link(options.handout + "#" + anchor(check.handout));
  Json facts = Json::array();
  for (const std::string& fact : check.facts) facts.push_back({{"id", fact}, {"text", fact_text(fact)}});
  view.update({{"open", check.status == "failed"},
               {"hidden", check.hidden},
               {"reason", check.reason.text},
               {"lede", repeated ? "" : check.reason.text},
               {"code", check.reason.code},
               {"explain", explain},
               {"has_explain", !explain.empty()},
               {"evidence", evidence},
               {"has_evidence", !evidence.empty()},
               {"bands", banded ? svg::ratio_bands(*check.metrics.ratio, "bands-" + anchor(check.id)) : ""},
               {"shares", shares},
               {"has_shares", shares.size() > 1},
               {"hint", lost(check) ? hint_view(check, 0) : Json(false)},
               {"facts", facts},
               {"has_facts", !facts.empty()},
               {"handout", check.handout},
               {"handout_link", link},
               {"also", also},
               {"has_also", !also.empty()},
               {"also_why", also_why}});
  return view;
}

}  // namespace

std::string_view icon_of(std::string_view status) {
  for (const std::string_view known : {"passed", "failed", "partial", "skipped"}) {
    if (status == known) return known;
  }
  return "fault";
}

Json check_groups(const Report& report, const std::optional<Report>& before, const HtmlOptions& options) {
  const bool comparable = before && before->lab_id == report.lab_id && before->lab_version == report.lab_version;
  const auto cause = causes_of(report);
  Json groups = Json::array();
  const auto group = [&](std::string_view status, std::string_view heading, bool folded) {
    Json cards = Json::array();
    std::size_t count = 0;
    for (const Check& check : report.checks) {
      if (check.status != status) continue;
      ++count;
      if (cause.at(&check) != &check) continue;
      Json also = Json::array();
      for (const Check& other : report.checks) {
        if (&other != &check && cause.at(&other) == &check) also.push_back(line_view(other));
      }
      cards.push_back(check_view(check, options, also, "Lost because of it:"));
      cards.back()["change"] = comparable ? change_of(find_check(*before, check.id), check) : "";
    }
    if (!cards.empty())
      groups.push_back({{"heading", heading}, {"count", count}, {"folded", folded}, {"checks", cards}});
  };
  group("failed", "Failed checks", false);
  group("fault", "Could not be judged", false);
  group("partial", "Partly passed", false);
  group("skipped", "Skipped", false);
  group("passed", "Passed", true);
  return groups;
}

}  // namespace labrig::reports
