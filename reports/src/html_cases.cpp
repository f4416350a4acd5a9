// Cases: how each ended, its charts, every figure beside the reference's, and what was printed.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <set>

#include "chart_data.hpp"
#include "html.hpp"
#include "text.hpp"
#include "units.hpp"

namespace labrig::reports {
namespace {

using Json = nlohmann::json;

constexpr std::size_t kOperationRows = 40;
constexpr int kMemoryRows = 10;
constexpr std::size_t kBarsOfAPage = 1000;  // keeps a page below 300 KB however many traces it has

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

// Figures of a call that did not return are a part of the work: nothing to compare.
bool comparable(const Case& c) { return c.status == "ok" || c.status == "wrong_values" || c.status == "hazard"; }

Json metric_rows(const Case& c) {
  Json rows = Json::array();
  std::set<std::string> done;
  const auto add = [&](const std::string& name, std::optional<double> yours, std::optional<double> reference) {
    if (!done.insert(name).second) return;
    const MetricInfo info = metric_info(name);
    const bool zero = yours.value_or(0) == 0 && reference.value_or(0) == 0;
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

Json hazard_views(const Case& c) {
  Json out = Json::array();
  for (const Hazard& hazard : c.hazards) {
    Json rows = Json::array();
    const auto add = [&](std::string_view term, const std::string& value) {
      if (!value.empty()) rows.push_back({{"term", term}, {"value", value}});
    };
    add("earlier", hazard.earlier);
    add("later", hazard.later);
    add("tensor", hazard.buffer);
    add("bytes of the first pair", hazard.bytes > 0 ? exact(hazard.bytes, "bytes") : "");
    add("pairs", hazard.count > 0 ? count_text(hazard.count) : "");
    out.push_back(
        {{"heading", hazard_heading(hazard)}, {"text", hazard.text}, {"rows", rows}, {"has_rows", !rows.empty()}});
  }
  return out;
}

svg::Sides sides_of(const Case& c) {
  return {c.submission_trace ? &*c.submission_trace : nullptr, c.reference_trace ? &*c.reference_trace : nullptr};
}

void add_charts(const Case& c, std::size_t number, std::size_t most_bars, Json& view) {
  const svg::Sides sides = sides_of(c);
  const bool timeline = !svg::used_lanes(sides).empty(), memory = svg::has_memory(sides);
  const auto cut = [](const Trace* trace) { return trace != nullptr && trace->cut; };
  std::size_t left_out = 0;
  view.update(
      {{"timeline", timeline ? svg::timeline(sides, fmt::format("timeline-{}", number), most_bars) : ""},
       {"trace_cut", cut(sides.yours) || cut(sides.reference)},
       {"operations", operation_rows(sides, kOperationRows, left_out)},
       {"memory",
        memory ? svg::memory_curve(sides, find(c.parameters, "budget_bytes"), fmt::format("memory-{}", number)) : ""},
       {"memory_key", memory_key(sides)},
       {"memory_rows", memory ? memory_rows(sides, kMemoryRows) : Json::array()}});
  view["operations_more"] = left_out == 0 ? "" : fmt::format("and {} more operations", left_out);
}

}  // namespace

Json case_views(const Report& report, std::string_view open_case) {
  std::size_t lanes = 0;
  for (const Case& c : report.cases) lanes += 2 * svg::used_lanes(sides_of(c)).size();
  const std::size_t most_bars = std::clamp<std::size_t>(kBarsOfAPage / std::max<std::size_t>(lanes, 1), 8, 60);

  Json out = Json::array();
  for (std::size_t i = 0; i < report.cases.size(); ++i) {
    const Case& c = report.cases[i];
    const Json metrics = metric_rows(c), hazards = hazard_views(c);
    const auto time = find(c.metrics, "time_ps");
    Json view = {{"anchor", anchor(c.id)},
                 {"id", c.id},
                 {"open", c.id == open_case},
                 {"icon", shown_as(c).icon},
                 {"tone", shown_as(c).tone},
                 {"hidden", c.hidden},
                 {"summary", summary_of(c)},
                 {"time", time && *time > 0 ? time_text(*time) : ""},
                 {"status", words(c.status) + (c.status == "ok" || c.phase.empty() ? "" : ", in " + c.phase)},
                 {"reason", c.reason.text},
                 {"about", about_view(c)},
                 {"hazards", hazards},
                 {"has_hazards", !hazards.empty()},
                 {"notes", c.notes},
                 {"has_notes", !c.notes.empty()},
                 {"metrics", metrics},
                 {"has_metrics", !metrics.empty()},
                 {"output", c.output},
                 {"output_cut", c.output_cut}};
    add_charts(c, i, most_bars, view);
    out.push_back(std::move(view));
  }
  return out;
}

}  // namespace labrig::reports
