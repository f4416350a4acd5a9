// Rows are formatted here: the templates only place them.
#include "chart_data.hpp"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "svg/axis.hpp"
#include "svg/lines.hpp"
#include "units.hpp"

namespace labrig::reports {
namespace {

using Json = nlohmann::json;

struct Sum {
  std::size_t count = 0;
  double bytes = 0, time_ps = 0;
};
struct Pair {
  Sum yours, reference;
  double longest() const { return std::max(yours.time_ps, reference.time_ps); }
};

void add(const Trace* trace, std::string_view lane, Sum Pair::* side, std::map<std::string, Pair>& rows) {
  if (trace == nullptr) return;
  for (const Span& span : trace->timeline) {
    if (span.lane != lane) continue;
    Sum& sum = rows[span.name].*side;
    sum.count += 1;
    sum.bytes += span.bytes;
    sum.time_ps += span.end_ps - span.start_ps;
  }
}

std::string shown(const Sum& sum, std::string text) { return sum.count == 0 ? "–" : text; }

// The last point at or before `time_ps`; nothing before the first or after the end of the run.
const MemoryPoint* at(const Trace* trace, double time_ps) {
  if (trace == nullptr || time_ps > trace->end_ps * (1 + 1e-9)) return nullptr;
  const auto after = std::upper_bound(trace->memory.begin(), trace->memory.end(), time_ps * (1 + 1e-9),
                                      [](double time, const MemoryPoint& point) { return time < point.time_ps; });
  return after == trace->memory.begin() ? nullptr : &*(after - 1);
}

}  // namespace

Json operation_rows(const svg::Sides& sides, std::size_t most, std::size_t& left_out) {
  Json out = Json::array();
  left_out = 0;
  for (const svg::Lane& lane : svg::lanes()) {
    std::map<std::string, Pair> rows;
    add(sides.yours, lane.id, &Pair::yours, rows);
    add(sides.reference, lane.id, &Pair::reference, rows);
    std::vector<const std::pair<const std::string, Pair>*> order;
    for (const auto& row : rows) order.push_back(&row);
    std::stable_sort(order.begin(), order.end(),
                     [](auto* a, auto* b) { return a->second.longest() > b->second.longest(); });
    for (const auto* row : order) {
      if (out.size() >= most) {
        ++left_out;
        continue;
      }
      const auto& [yours, reference] = row->second;
      out.push_back({{"lane", lane.label},
                     {"name", row->first},
                     {"count", shown(yours, count_text(static_cast<double>(yours.count)))},
                     {"bytes", shown(yours, yours.bytes > 0 ? bytes_text(yours.bytes) : "")},
                     {"time", shown(yours, time_text(yours.time_ps))},
                     {"ref_count", shown(reference, count_text(static_cast<double>(reference.count)))},
                     {"ref_bytes", shown(reference, reference.bytes > 0 ? bytes_text(reference.bytes) : "")},
                     {"ref_time", shown(reference, time_text(reference.time_ps))}});
    }
  }
  return out;
}

Json memory_rows(const svg::Sides& sides, int count) {
  Json out = Json::array();
  for (int i = 0; i <= count; ++i) {
    const double time_ps = sides.end_ps() * i / count;
    const MemoryPoint *yours = at(sides.yours, time_ps), *reference = at(sides.reference, time_ps);
    const auto cell = [](const MemoryPoint* point, double MemoryPoint::* value) {
      return point == nullptr ? std::string("–") : bytes_text(point->*value);
    };
    out.push_back({{"at", time_text(time_ps)},
                   {"allocated", cell(yours, &MemoryPoint::allocated_bytes)},
                   {"reserved", cell(yours, &MemoryPoint::reserved_bytes)},
                   {"ref_allocated", cell(reference, &MemoryPoint::allocated_bytes)},
                   {"ref_reserved", cell(reference, &MemoryPoint::reserved_bytes)},
                   {"pinned", cell(yours, &MemoryPoint::pinned_bytes)},
                   {"ref_pinned", cell(reference, &MemoryPoint::pinned_bytes)}});
  }
  return out;
}

Json memory_key(const svg::Sides& sides) {
  Json out = Json::array();
  const bool pinned = svg::has_pinned(sides);
  const auto add_side = [&](const Trace* trace, std::string_view whose, std::string_view css_class) {
    if (trace == nullptr) return;
    const svg::Peaks peaks = svg::peaks_of(*trace);
    const auto add = [&](const std::string& name, double peak) {
      out.push_back({{"line", name + " " + std::string(css_class)},
                     {"label", std::string(whose) + " " + name},
                     {"peak", bytes_text(peak)}});
    };
    add("allocated", peaks.allocated);
    add("reserved", peaks.reserved);
    if (pinned) add("pinned", peaks.pinned);
  };
  add_side(sides.yours, "your", "yours");
  add_side(sides.reference, "reference", "theirs");
  return out;
}

Json alive_rows(const svg::Sides& sides) {
  std::vector<std::string> order;
  std::map<std::string, std::pair<Alive, Alive>> rows;
  double largest = 1;
  const auto add_side = [&](const Trace* trace, Alive std::pair<Alive, Alive>::* side) {
    if (trace == nullptr) return;
    for (const Alive& alive : trace->alive) {
      if (!rows.contains(alive.name)) order.push_back(alive.name);
      Alive& sum = rows[alive.name].*side;
      sum.bytes += alive.bytes, sum.count += alive.count;
      largest = std::max(largest, sum.bytes);
    }
  };
  add_side(sides.yours, &std::pair<Alive, Alive>::first);
  add_side(sides.reference, &std::pair<Alive, Alive>::second);
  Json out = Json::array();
  const auto blocks = [](const Alive& alive) {
    return alive.count > 0 ? bytes_text(alive.bytes) + (alive.count > 1 ? " in " + count_text(alive.count) : "") : "–";
  };
  for (const std::string& name : order) {
    const auto& [yours, reference] = rows[name];
    out.push_back({{"name", name},
                   {"yours", blocks(yours)},
                   {"reference", blocks(reference)},
                   {"yours_width", svg::percent(yours.bytes / largest)},
                   {"reference_width", svg::percent(reference.bytes / largest)}});
  }
  return out;
}

Json chart_rows(const Chart& chart, std::size_t most) {
  const std::size_t lines = std::min(chart.lines.size(), svg::kMostLines);
  std::map<double, std::vector<std::string>> rows;
  for (std::size_t i = 0; i < lines; ++i) {
    for (const ChartPoint& point : chart.lines[i].points) {
      auto& row = rows.try_emplace(point.x, lines, "–").first->second;
      row[i] = point.y ? human(*point.y, chart.y.unit) : "none";
    }
  }
  Json out = Json::array();
  const std::size_t shown = std::min(rows.size(), most);
  std::size_t index = 0;
  for (const auto& [x, cells] : rows) {
    // The first, the last, and the others evenly between.
    const std::size_t wanted = shown < 2 ? 0 : (out.size() * (rows.size() - 1) + shown - 2) / (shown - 1);
    if (index++ < wanted || out.size() == shown) continue;
    out.push_back({{"x", human(x, chart.x.unit)}, {"cells", cells}});
  }
  return out;
}

}  // namespace labrig::reports
