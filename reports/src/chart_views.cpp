// Each key is set in every view, empty where a case has no such chart.
#include "chart_views.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "bottleneck.hpp"
#include "chart_data.hpp"
#include "svg/axis.hpp"
#include "svg/lines.hpp"
#include "svg/roofline.hpp"
#include "svg/timeline.hpp"
#include "units.hpp"

namespace labrig::reports {
namespace {

using Json = nlohmann::json;

constexpr std::size_t kOperationRows = 24, kChartRows = 12;
constexpr int kMemoryRows = 10;

// One share of the time for both sides: "71 %" beside a bar.
Json share_row(std::string_view name, std::optional<double> yours, std::optional<double> reference) {
  const auto text = [](std::optional<double> share) {
    return share ? fmt::format("{:.0f} %", *share * 100) : std::string("–");
  };
  return {{"name", name},
          {"yours", text(yours)},
          {"reference", text(reference)},
          {"yours_width", svg::percent(yours.value_or(0))},
          {"reference_width", svg::percent(reference.value_or(0))}};
}

Json share_rows(const std::optional<Utilisation>& yours, const std::optional<Utilisation>& reference) {
  Json rows = Json::array();
  const auto add = [&](std::string_view name, auto take) {
    const auto get = [&](const std::optional<Utilisation>& use) {
      return use ? std::optional<double>(take(*use)) : std::nullopt;
    };
    const auto mine = get(yours), theirs = get(reference);
    if (mine || theirs) rows.push_back(share_row(name, mine, theirs));
  };
  using Share = std::optional<double>;
  add("compute engine busy", [](const Utilisation& use) { return Share(use.compute); });
  add("upload engine busy", [](const Utilisation& use) { return Share(use.up); });
  add("download engine busy", [](const Utilisation& use) { return Share(use.down); });
  add("copy and kernel at once", [](const Utilisation& use) { return Share(use.overlap); });
  return rows;
}

// Known only with a timeline.
void add_host_rows(const std::optional<Utilisation>& yours, const std::optional<Utilisation>& reference, Json& rows) {
  const auto get = [](const std::optional<Utilisation>& use, std::optional<double> Utilisation::* share) {
    return use ? (*use).*share : std::nullopt;
  };
  for (const auto& [name, share] :
       {std::pair{"host waiting for the card", &Utilisation::waits}, {"host's own work", &Utilisation::host_work}}) {
    const auto mine = get(yours, share), theirs = get(reference, share);
    if (mine || theirs) rows.push_back(share_row(name, mine, theirs));
  }
}

Json roof_rows(const Case& c) {
  Json rows = Json::array();
  for (const auto& [who, metrics] : {std::pair{"yours", &c.metrics}, std::pair{"reference", &c.reference}}) {
    const auto point = svg::roof_point(*metrics);
    if (!point || !c.card) continue;
    rows.push_back({{"who", who},
                    {"intensity", count_text(point->intensity)},
                    {"kernels", human(point->kernels_per_s, "flops") + "/s"},
                    {"run", human(point->run_per_s, "flops") + "/s"},
                    {"roof", human(svg::roof_at(*c.card, point->intensity), "flops") + "/s"}});
  }
  return rows;
}

void add_bottleneck(const Case& c, std::size_t number, bool drawn, Json& view) {
  const svg::Sides sides = sides_of(c);
  const bool counted = comparable(c);
  const auto verdict = counted ? bottleneck_of(c.metrics, sides.yours, c.card) : std::nullopt;
  const auto reference = bottleneck_of(c.reference, sides.reference, c.card);
  Json shares = Json::array();
  std::string beside;
  if (verdict) {
    const auto yours = utilisation_of(c.metrics, sides.yours), theirs = utilisation_of(c.reference, sides.reference);
    shares = share_rows(yours, theirs);
    add_host_rows(yours, theirs, shares);
    // Without a timeline the host's part is not known: nothing is said about it.
    if (reference && reference->bound != Bound::host) {
      beside = reference->bound == verdict->bound
                   ? "The reference is bound by the same."
                   : fmt::format("The reference is bound by {}.", name_of(reference->bound));
    }
  }
  const bool recorded = sides.yours != nullptr || sides.reference != nullptr;
  const std::string roofline = verdict && c.card && recorded && drawn
                                   ? svg::roofline(*c.card, c.metrics, c.reference, fmt::format("roofline-{}", number))
                                   : "";
  view.update({{"bottleneck", verdict ? verdict->sentence : ""},
               {"bottleneck_beside", beside},
               {"bottleneck_advice", verdict ? advice_for(verdict->bound, c.metrics, c.reference) : ""},
               {"shares", shares},
               {"roofline", roofline},
               {"card_title", c.card ? c.card->title : ""},
               {"roof_rows", roofline.empty() ? Json::array() : roof_rows(c)}});
}

void add_timeline(const Case& c, std::size_t number, std::size_t most_bars, Json& view) {
  const svg::Sides sides = sides_of(c);
  const bool any = !svg::used_lanes(sides).empty(), timeline = any && most_bars > 0;
  view["charts_left_out"] = any && !timeline;
  const auto cut = [](const Trace* trace) { return trace != nullptr && trace->cut; };
  const auto waits = [](const Trace* trace) {
    return trace != nullptr && std::any_of(trace->timeline.begin(), trace->timeline.end(),
                                           [](const Span& span) { return !span.sync.empty(); });
  };
  const auto overlaps = [](const Trace* trace, const Numbers& metrics) {
    return trace != nullptr && !svg::overlaps_of(*trace).empty() && find(metrics, "overlap").value_or(1) > 0;
  };
  const bool marked = std::any_of(c.hazards.begin(), c.hazards.end(), [](const Hazard& h) { return h.time_ps; });
  // Counts of a call that did not return are a part of the work, those of its trace as well: they belong together.
  const svg::TimelineOptions options{most_bars, &c.metrics, &c.reference, &c.hazards};
  std::size_t left_out = 0;
  view.update({{"timeline", timeline ? svg::timeline(sides, fmt::format("timeline-{}", number), options) : ""},
               {"trace_cut", cut(sides.yours) || cut(sides.reference)},
               {"trace_waits", waits(sides.yours) || waits(sides.reference)},
               {"trace_overlaps", overlaps(sides.yours, c.metrics) || overlaps(sides.reference, c.reference)},
               {"trace_hazards", timeline && sides.yours != nullptr && marked},
               {"operations", operation_rows(sides, kOperationRows, left_out)}});
  view["operations_more"] = left_out == 0 ? "" : fmt::format("and {} more operations", left_out);
}

void add_memory(const Case& c, std::size_t number, bool drawn, Json& view) {
  const svg::Sides sides = sides_of(c);
  const bool memory = drawn && svg::has_memory(sides);
  const Json alive = alive_rows(sides);
  view.update(
      {{"memory",
        memory ? svg::memory_curve(sides, find(c.parameters, "budget_bytes"), fmt::format("memory-{}", number)) : ""},
       {"memory_key", memory_key(sides)},
       {"memory_pinned", svg::has_pinned(sides)},
       {"memory_rows", memory ? memory_rows(sides, kMemoryRows) : Json::array()},
       {"alive", alive},
       {"has_alive", memory && !alive.empty()}});
}

Json curve_views(const Case& c, std::size_t number) {
  Json out = Json::array();
  for (std::size_t i = 0; i < c.charts.size(); ++i) {
    const Chart& chart = c.charts[i];
    Json key = Json::array();
    for (std::size_t line = 0; line < std::min(chart.lines.size(), svg::kMostLines); ++line) {
      const std::string css_class = svg::line_class(chart, line);
      key.push_back({{"line", css_class},
                     {"mark", svg::mark(css_class, 0.5, 6, svg::line_shape(chart, line), "")},
                     {"label", chart.lines[line].label}});
    }
    const std::size_t more = chart.lines.size() - key.size();
    out.push_back({{"title", chart.title},
                   {"picture", svg::line_chart(chart, fmt::format("curve-{}-{}", number, i))},
                   {"read", chart.read},
                   {"x_label", chart.x.label},
                   {"lines_more", more == 0 ? "" : fmt::format("and {} more lines", more)},
                   {"key", key},
                   {"rows", chart_rows(chart, kChartRows)}});
  }
  return out;
}

}  // namespace

svg::Sides sides_of(const Case& c) {
  return {c.submission_trace ? &*c.submission_trace : nullptr, c.reference_trace ? &*c.reference_trace : nullptr};
}

bool comparable(const Case& c) { return c.status == "ok" || c.status == "wrong_values" || c.status == "hazard"; }

void add_chart_views(const Case& c, std::size_t number, std::size_t most_bars_a_row, Json& view) {
  const bool drawn = most_bars_a_row > 0;
  add_bottleneck(c, number, drawn, view);
  add_timeline(c, number, most_bars_a_row, view);
  add_memory(c, number, drawn, view);
  view["curves"] = curve_views(c, number);
}

}  // namespace labrig::reports
