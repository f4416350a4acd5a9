// Rows are formatted here: the templates only place them.
#include "chart_data.hpp"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

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
                   {"ref_reserved", cell(reference, &MemoryPoint::reserved_bytes)}});
  }
  return out;
}

Json memory_key(const svg::Sides& sides) {
  Json out = Json::array();
  const auto add_side = [&](const Trace* trace, std::string_view whose, std::string_view css_class) {
    if (trace == nullptr) return;
    const svg::Peaks peaks = svg::peaks_of(*trace);
    out.push_back({{"line", "allocated " + std::string(css_class)},
                   {"label", std::string(whose) + " allocated"},
                   {"peak", bytes_text(peaks.allocated)}});
    out.push_back({{"line", "reserved " + std::string(css_class)},
                   {"label", std::string(whose) + " reserved"},
                   {"peak", bytes_text(peaks.reserved)}});
  };
  add_side(sides.yours, "your", "yours");
  add_side(sides.reference, "reference", "theirs");
  return out;
}

}  // namespace labrig::reports
