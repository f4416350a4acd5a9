// Cases: how each ended, its charts, every figure beside the reference's, and what was printed.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>

#include "causes.hpp"
#include "chart_views.hpp"
#include "html.hpp"
#include "svg/axis.hpp"
#include "svg/timeline.hpp"
#include "text.hpp"
#include "units.hpp"

namespace labrig::reports {
namespace {

using Json = nlohmann::json;

// Keep a page below 500 KB however many traces it has.
constexpr std::size_t kDrawnCases = 4, kBarsOfAPage = 500;

struct Shown {
  std::string_view icon, tone;
};
Shown shown_as(const Case& c) {
  if (c.status == "ok") return {"passed", "ok"};
  if (c.status == "not_run") return {"skipped", "skipped"};
  if (c.status == "fault") return {"fault", "skipped"};
  return {"failed", "bad"};
}

std::string words(std::string text) {
  std::replace(text.begin(), text.end(), '_', ' ');
  return text;
}

double ratio_of(double yours, double reference) {
  if (reference != 0) return yours / reference;
  return yours == 0 ? 1 : std::numeric_limits<double>::infinity();
}

// What is zero on both sides goes to `zeros`: named, without a row of its own.
Json metric_rows(const Case& c, Json& zeros) {
  Json rows = Json::array();
  std::set<std::string> done;
  const auto add = [&](const std::string& name, std::optional<double> yours, std::optional<double> reference) {
    if (!done.insert(name).second) return;
    const MetricInfo info = metric_info(name);
    const bool zero = yours.value_or(0) == 0 && reference.value_or(0) == 0;
    if (zero && yours && reference) {
      zeros.push_back({{"label", info.label}, {"name", name}});
      return;
    }
    const bool both = yours && reference && comparable(c);
    const double ratio = both ? ratio_of(*yours, *reference) : 1;
    rows.push_back({{"label", info.label},
                    {"name", info.label == name ? "" : name},
                    {"value", yours ? human(*yours, info.unit) : "–"},
                    {"exact", yours ? exact(*yours, info.unit) : ""},
                    {"ref", reference ? human(*reference, info.unit) : "–"},
                    {"ref_exact", reference ? exact(*reference, info.unit) : ""},
                    {"ratio", both && !zero ? ratio_text(ratio) : "–"},
                    {"row", zero           ? "zero"
                            : ratio > 1.15 ? "more"
                                           : ""}});
  };
  for (const auto& [name, value] : c.metrics) add(name, value, find(c.reference, name));
  for (const auto& [name, value] : c.reference) add(name, find(c.metrics, name), value);
  for (const auto& [name, value] : c.figures) add(name, value, std::nullopt);
  return rows;
}

Json about_view(const Case& c) {
  Json rows = Json::array();
  const auto add = [&](std::string_view name, const std::string& value) {
    if (!value.empty()) rows.push_back({{"name", name}, {"value", value}});
  };
  add("kind", c.kind);
  add("device", c.device);
  add("profile", c.profile);
  for (const auto& [name, value] : c.parameters) {
    const MetricInfo info = metric_info(name);
    add(info.label, human(value, info.unit));
  }
  add("seed", c.seed);
  return rows;
}

std::string summary_of(const Case& c) {
  const auto yours = find(c.metrics, "time_ps"), reference = find(c.reference, "time_ps");
  if (c.status == "ok" && yours && reference && *reference > 0) {
    return fmt::format("reference {}, ratio {}", time_text(*reference), ratio_text(*yours / *reference));
  }
  return c.status == "ok" ? std::string() : c.reason.text;
}

// "unordered-read" for people, and what the two streams were.
std::string hazard_heading(const Hazard& hazard) {
  const auto place = [](const std::optional<std::int64_t>& stream) {
    return stream ? fmt::format("stream {}", *stream) : std::string("the host");
  };
  std::string heading = hazard.kind;
  std::replace(heading.begin(), heading.end(), '-', ' ');
  return fmt::format("{}: {} and {}", heading, place(hazard.earlier_stream), place(hazard.later_stream));
}

// Of two hazards that differ in their numbers only (a buffer's, an operation's) one is enough.
std::string without_numbers(const Hazard& hazard) {
  std::string text = hazard_heading(hazard) + hazard.text;
  std::erase_if(text, [](unsigned char letter) { return letter >= '0' && letter <= '9'; });
  return text;
}

// Which later hazards, by their number, say the same as hazard `first`; empty where an earlier one says it already.
std::optional<Json> alike(const std::vector<Hazard>& hazards, std::size_t first) {
  Json numbers = Json::array();
  for (std::size_t i = 0; i < hazards.size(); ++i) {
    if (i == first || without_numbers(hazards[i]) != without_numbers(hazards[first])) continue;
    if (i < first) return std::nullopt;
    numbers.push_back({{"number", i + 1}, {"buffer", hazards[i].buffer}});
  }
  return numbers;
}

Json hazard_views(const Case& c) {
  Json out = Json::array();
  for (std::size_t i = 0; i < c.hazards.size(); ++i) {
    const Hazard& hazard = c.hazards[i];
    const std::optional<Json> more = alike(c.hazards, i);
    if (!more) continue;
    Json rows = Json::array();
    const auto add = [&](std::string_view term, const std::string& value) {
      if (!value.empty()) rows.push_back({{"term", term}, {"value", value}});
    };
    add("earlier", hazard.earlier);
    add("later", hazard.later);
    add("tensor", hazard.buffer);
    add("bytes of the first pair", hazard.bytes > 0 ? exact(hazard.bytes, "bytes") : "");
    add("first met at", hazard.time_ps ? time_text(*hazard.time_ps) : "");
    add("pairs", hazard.count > 0 ? count_text(hazard.count) : "");
    out.push_back({{"number", i + 1},
                   {"heading", hazard_heading(hazard)},
                   {"text", hazard.text},
                   {"alike", *more},
                   {"has_alike", !more->empty()},
                   {"rows", rows},
                   {"has_rows", !rows.empty()}});
  }
  return out;
}

// The pattern as a word, and how many of the wrong values support it.
Json mismatch_views(const Case& c) {
  Json out = Json::array();
  for (const Mismatch& mismatch : c.mismatches) {
    std::string pattern = mismatch.pattern;
    std::replace(pattern.begin(), pattern.end(), '-', ' ');
    const bool counted = mismatch.wrong > 0 && mismatch.pattern_count > 0;
    out.push_back({{"what", mismatch.what.empty() ? mismatch.code : mismatch.what},
                   {"code", mismatch.code},
                   {"text", mismatch.text},
                   {"wrong", mismatch.total > 0 ? fmt::format("{} of {} values wrong", count_text(mismatch.wrong),
                                                              count_text(mismatch.total))
                                                : ""},
                   {"wrong_width", svg::percent(mismatch.total > 0 ? mismatch.wrong / mismatch.total : 0)},
                   {"pattern", pattern},
                   {"support", counted ? fmt::format("{} of {} wrong values fit", count_text(mismatch.pattern_count),
                                                     count_text(mismatch.wrong))
                                       : ""},
                   {"pattern_text", mismatch.pattern_text}});
  }
  return out;
}

// The checks that lost points in a case: "bytes-up, time and 2 more".
std::string lost_in(const Report& report, const Case& c) {
  constexpr std::size_t kNamed = 3;
  std::string out;
  std::size_t count = 0;
  for (const Check& check : report.checks) {
    const bool here = lost(check) && std::any_of(check.cases.begin(), check.cases.end(), [&](const Share& share) {
                        return share.case_id == c.id && share.share < 1;
                      });
    if (here && ++count <= kNamed) out += (out.empty() ? "" : ", ") + check.id;
  }
  return count > kNamed ? out + fmt::format(" and {} more", count - kNamed) : out;
}

// A call that came back with right values may still have cost points: then "ok" alone would be misread.
void add_state(const Report& report, const Case& c, Json& view) {
  const std::string checks = c.status == "ok" ? lost_in(report, c) : "";
  const Shown shown = checks.empty() ? shown_as(c) : Shown{"partial", "partial"};
  view["icon"] = shown.icon;
  view["tone"] = shown.tone;
  view["status"] = !checks.empty() ? "points lost"
                                   : words(c.status) + (c.status == "ok" || c.phase.empty() ? "" : ", in " + c.phase);
  const std::string summary = summary_of(c), where = checks.empty() ? "" : "points lost in " + checks;
  view["summary"] = where + (where.empty() || summary.empty() ? "" : "; ") + summary;
}

// The cases whose charts are drawn: the one that is unfolded, then the first.
std::set<const Case*> drawn_cases(const Report& report, std::string_view open_case) {
  std::set<const Case*> drawn;
  for (const Case& c : report.cases)
    if (c.id == open_case && !svg::used_lanes(sides_of(c)).empty()) drawn.insert(&c);
  for (const Case& c : report.cases)
    if (drawn.size() < kDrawnCases && !svg::used_lanes(sides_of(c)).empty()) drawn.insert(&c);
  return drawn;
}

// Shares out the bars of a page among the rows of its timelines, unless every span can have one.
std::size_t bars_a_row(const std::set<const Case*>& drawn) {
  std::size_t rows = 0, spans = 0;
  for (const Case* const c : drawn) {
    const svg::Sides sides = sides_of(*c);
    rows += svg::rows_drawn(sides);
    for (const Trace* trace : {sides.yours, sides.reference}) spans += trace != nullptr ? trace->timeline.size() : 0;
  }
  if (spans <= kBarsOfAPage) return kBarsOfAPage;
  return std::clamp<std::size_t>(kBarsOfAPage / std::max<std::size_t>(rows, 1), 8, 60);
}

}  // namespace

Json case_views(const Report& report, std::string_view open_case) {
  const std::set<const Case*> drawn = drawn_cases(report, open_case);
  const std::size_t most_bars = bars_a_row(drawn);
  Json out = Json::array();
  for (std::size_t i = 0; i < report.cases.size(); ++i) {
    const Case& c = report.cases[i];
    Json zeros = Json::array();
    const Json metrics = metric_rows(c, zeros), hazards = hazard_views(c), mismatches = mismatch_views(c);
    const auto time = find(c.metrics, "time_ps");
    Json view = {{"anchor", anchor(c.id)},
                 {"id", c.id},
                 {"open", c.id == open_case},
                 {"hidden", c.hidden},
                 {"time", time && *time > 0 ? time_text(*time) : ""},
                 {"reason", c.reason.text},
                 {"about", about_view(c)},
                 {"hazards", hazards},
                 {"has_hazards", !hazards.empty()},
                 {"mismatches", mismatches},
                 {"has_mismatches", !mismatches.empty()},
                 {"notes", c.notes},
                 {"has_notes", !c.notes.empty()},
                 {"metrics", metrics},
                 {"has_metrics", !metrics.empty() || !zeros.empty()},
                 {"zeros", zeros},
                 {"has_zeros", !zeros.empty()},
                 {"output", c.output},
                 {"output_cut", c.output_cut}};
    add_state(report, c, view);
    add_chart_views(c, i, drawn.contains(&c) ? most_bars : 0, view);
    out.push_back(std::move(view));
  }
  return out;
}

}  // namespace labrig::reports
