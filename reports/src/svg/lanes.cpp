// Rows and bars are found in one pass over spans that are sorted by time.
#include "svg/lanes.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace labrig::reports::svg {
namespace {

constexpr std::size_t kStreamRows = 5;

// Intervals of the lanes that `take` accepts, joined where they touch.
template <class Take>
std::vector<Span> busy_of(const Trace& trace, Take take) {
  std::vector<Span> out;
  for (const Span& span : trace.timeline) {
    if (!take(span)) continue;
    if (!out.empty() && span.start_ps <= out.back().end_ps) {
      out.back().end_ps = std::max(out.back().end_ps, span.end_ps);
    } else {
      out.push_back({"both", "copy and kernel at once", 0, span.start_ps, span.end_ps, 0});
    }
  }
  return out;
}

}  // namespace

double Sides::end_ps() const { return std::max({yours ? yours->end_ps : 0, reference ? reference->end_ps : 0, 1.0}); }

const std::vector<Lane>& lanes() {
  static const std::vector<Lane> all = {
      {"host", "Host"}, {"up", "Upload engine"}, {"compute", "Compute engine"}, {"down", "Download engine"}};
  return all;
}

std::vector<Lane> used_lanes(const Sides& sides) {
  std::vector<Lane> out;
  for (const Lane& lane : lanes()) {
    const auto uses = [&](const Trace* trace) {
      return trace != nullptr && std::any_of(trace->timeline.begin(), trace->timeline.end(),
                                             [&](const Span& span) { return span.lane == lane.id; });
    };
    if (uses(sides.yours) || uses(sides.reference)) out.push_back(lane);
  }
  return out;
}

bool Sides::several_streams() const {
  return (yours != nullptr && streams_of(*yours).size() > 1) ||
         (reference != nullptr && streams_of(*reference).size() > 1);
}

std::vector<std::int64_t> streams_of(const Trace& trace) {
  std::vector<std::int64_t> out;
  for (const Span& span : trace.timeline) {
    if (span.lane != "host") out.push_back(span.stream);
  }
  std::sort(out.begin(), out.end());
  out.erase(std::unique(out.begin(), out.end()), out.end());
  return out;
}

bool Row::holds(const Span& span) const {
  return span.lane == lane.id &&
         (streams.empty() || std::find(streams.begin(), streams.end(), span.stream) != streams.end());
}

std::vector<Row> rows_of(const Trace& trace, const Lane& lane, bool name_streams) {
  if (lane.id == "host" || !name_streams) return {{lane, std::string(lane.label), {}}};
  Trace own;
  std::copy_if(trace.timeline.begin(), trace.timeline.end(), std::back_inserter(own.timeline),
               [&](const Span& span) { return span.lane == lane.id; });
  const auto streams = streams_of(own);
  std::vector<Row> rows;
  for (std::size_t i = 0; i < streams.size(); ++i) {
    if (i + 1 > kStreamRows) {
      rows.back().streams.push_back(streams[i]);
      rows.back().label = fmt::format("{} · {} more streams", lane.label, rows.back().streams.size());
    } else {
      rows.push_back({lane, fmt::format("{} · stream {}", lane.label, streams[i]), {streams[i]}, streams.size() == 1});
    }
  }
  if (rows.empty()) rows.push_back({lane, std::string(lane.label), {}});
  return rows;
}

std::vector<Bar> bars_of(const std::vector<Span>& spans, double end_ps, std::size_t most) {
  std::vector<Bar> bars;
  for (double tiny = 0.004;; tiny *= 2) {
    bars.clear();
    bool open = false;  // the last bar takes short neighbours
    for (const Span& span : spans) {
      const double start = span.start_ps / end_ps, end = span.end_ps / end_ps;
      const bool small = end - start < tiny;
      if (small && open && start - bars.back().end < tiny) {
        Bar& bar = bars.back();
        bar.end = std::max(bar.end, end);
        bar.busy_ps += span.end_ps - span.start_ps;
        bar.bytes += span.bytes;
        bar.pieces += 1;
        if (bar.name != span.name) bar.name.clear();
        if (bar.sync != span.sync) bar.sync = "several";
      } else {
        bars.push_back({start, end, span.end_ps - span.start_ps, span.bytes, 1, span.name, span.sync});
      }
      open = small;
    }
    if (bars.size() <= std::max<std::size_t>(most, 1) || tiny > 1) return bars;
  }
}

std::vector<Bar> bars_of(const Trace& trace, std::string_view lane, double end_ps, std::size_t most) {
  std::vector<Span> spans;
  std::copy_if(trace.timeline.begin(), trace.timeline.end(), std::back_inserter(spans),
               [&](const Span& span) { return span.lane == lane; });
  return bars_of(spans, end_ps, most);
}

std::vector<Span> spans_of(const Trace& trace, const Row& row, bool waits) {
  std::vector<Span> spans;
  std::copy_if(trace.timeline.begin(), trace.timeline.end(), std::back_inserter(spans),
               [&](const Span& span) { return row.holds(span) && span.sync.empty() != waits; });
  return spans;
}

std::vector<Span> overlaps_of(const Trace& trace) {
  const auto copies = busy_of(trace, [](const Span& span) { return span.lane == "up" || span.lane == "down"; });
  const auto kernels = busy_of(trace, [](const Span& span) { return span.lane == "compute"; });
  std::vector<Span> out;
  for (std::size_t i = 0, k = 0; i < copies.size() && k < kernels.size();) {
    Span both = copies[i];
    both.start_ps = std::max(copies[i].start_ps, kernels[k].start_ps);
    both.end_ps = std::min(copies[i].end_ps, kernels[k].end_ps);
    if (both.start_ps < both.end_ps) out.push_back(both);
    copies[i].end_ps < kernels[k].end_ps ? ++i : ++k;
  }
  return out;
}

bool recorded_as_one(std::string_view name) {
  if (!name.ends_with(')')) return false;
  const auto open = name.rfind(" (");
  return open != std::string_view::npos && open + 3 < name.size() &&
         std::all_of(name.begin() + static_cast<std::ptrdiff_t>(open) + 2, name.end() - 1,
                     [](char c) { return c >= '0' && c <= '9'; });
}

double total_ps(const std::vector<Span>& spans) {
  double sum = 0;
  for (const Span& span : spans) sum += span.end_ps - span.start_ps;
  return sum;
}

std::string_view cause_of(std::string_view sync) {
  if (sync == "explicit") return "asked for: a synchronisation";
  if (sync == "value") return "to read a value";
  if (sync == "copy") return "inside a blocking copy";
  if (sync == "implicit") return "inside the driver";
  return "for several reasons";
}

}  // namespace labrig::reports::svg
