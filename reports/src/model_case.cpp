// Spans and points come in any order and leave sorted by time.
#include "model_case.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "json_read.hpp"

namespace labrig::reports {
namespace {

using Json = nlohmann::json;
using namespace json_read;

void read_peak(const Json& json, Trace& trace) {
  if (!json.is_object()) return;
  trace.peak_ps = maybe_number(json, "time_ps");
  for (const Json& item : list(json, "alive")) {
    trace.alive.push_back({text(item, "name"), number(item, "bytes"), number(item, "count")});
  }
}

std::optional<Trace> read_trace(const Json& json) {
  if (!json.is_object()) return std::nullopt;
  Trace trace;
  trace.cut = flag(json, "cut");
  for (const Json& item : list(json, "timeline")) {
    Span span{text(item, "lane"),     text(item, "name"),    integer(item, "stream"), number(item, "start_ps"),
              number(item, "end_ps"), number(item, "bytes"), text(item, "sync")};
    span.start_ps = std::max(span.start_ps, 0.0);
    span.end_ps = std::max(span.start_ps, span.end_ps);
    trace.end_ps = std::max(trace.end_ps, span.end_ps);
    trace.timeline.push_back(std::move(span));
  }
  for (const Json& item : list(json, "memory")) {
    trace.memory.push_back({std::max(number(item, "time_ps"), 0.0), number(item, "allocated_bytes"),
                            number(item, "reserved_bytes"), number(item, "pinned_bytes")});
    trace.end_ps = std::max(trace.end_ps, trace.memory.back().time_ps);
  }
  std::stable_sort(trace.timeline.begin(), trace.timeline.end(),
                   [](const Span& a, const Span& b) { return a.start_ps < b.start_ps; });
  std::stable_sort(trace.memory.begin(), trace.memory.end(),
                   [](const MemoryPoint& a, const MemoryPoint& b) { return a.time_ps < b.time_ps; });
  read_peak(member(json, "peak"), trace);
  return trace;
}

// A clock starts with the call. One that counts from somewhere else is so far on that picoseconds are lost in a double,
// and all spans would fall together: its first moment becomes the start.
double start_of(const Trace& trace) {
  constexpr double kExact = 9007199254740992;  // 2^53
  double first = std::numeric_limits<double>::infinity();
  for (const Span& span : trace.timeline) first = std::min(first, span.start_ps);
  for (const MemoryPoint& point : trace.memory) first = std::min(first, point.time_ps);
  return std::isfinite(first) && first > kExact ? first : 0;
}

void start_at(double start, Trace& trace) {
  for (Span& span : trace.timeline) span.start_ps -= start, span.end_ps -= start;
  for (MemoryPoint& point : trace.memory) point.time_ps -= start;
  trace.end_ps = std::max(trace.end_ps - start, 0.0);
  if (trace.peak_ps) trace.peak_ps = std::max(*trace.peak_ps - start, 0.0);
}

Hazard read_hazard(const Json& json) {
  const Json &earlier = member(json, "earlier"), &later = member(json, "later");
  const auto stream = [](const Json& side) {
    const Json& value = member(side, "stream");
    return value.is_number() ? std::optional(integer_of(value)) : std::nullopt;
  };
  return {text(json, "kind"),    prose(json, "text"),
          text(earlier, "what"), text(later, "what"),
          text(json, "buffer"),  stream(earlier),
          stream(later),         number(json, "count"),
          number(json, "bytes"), maybe_number(json, "time_ps")};
}

std::optional<Card> read_card(const Json& json) {
  if (!json.is_object()) return std::nullopt;
  return Card{text(json, "title"),
              number(json, "capacity_bytes"),
              number(json, "flops_per_s"),
              number(json, "matrix_flops_per_s"),
              number(json, "memory_bytes_per_s"),
              number(json, "up_bytes_per_s"),
              number(json, "down_bytes_per_s")};
}

Mismatch read_mismatch(const Json& json) {
  return {text(json, "what"),          text(json, "code"),    prose(json, "text"),   text(json, "pattern"),
          prose(json, "pattern_text"), number(json, "wrong"), number(json, "total"), number(json, "pattern_count")};
}

ChartAxis read_axis(const Json& json) { return {text(json, "label"), text(json, "unit"), flag(json, "logarithmic")}; }

Chart read_chart(const Json& json) {
  Chart chart{text(json, "id"),
              text(json, "title"),
              prose(json, "read"),
              read_axis(member(json, "x")),
              read_axis(member(json, "y")),
              {}};
  for (const Json& line : list(json, "lines")) {
    chart.lines.push_back({text(line, "label"), text(line, "role"), {}});
    for (const Json& point : list(line, "points")) {
      if (!point.is_array() || point.size() != 2 || !point[0].is_number()) continue;
      const auto y = point[1].is_number() ? std::optional(point[1].get<double>()) : std::nullopt;
      chart.lines.back().points.push_back({point[0].get<double>(), y});
    }
  }
  return chart;
}

}  // namespace

Case read_case(const Json& json) {
  Case c;
  c.id = text(json, "id");
  c.scenario = text(json, "scenario");
  c.kind = text(json, "kind");
  c.device = text(json, "device");
  c.profile = text(json, "profile");
  c.seed = text(json, "seed");
  c.status = text(json, "status");
  c.phase = text(json, "phase");
  c.reason = read_reason(json);
  c.hidden = text(json, "visibility") == "hidden";
  const Json& output = member(json, "output");
  const Json& captured = member(output, "text");
  c.output = text_of(captured, Lines::many, kOutputLimit);
  c.output_cut = flag(output, "cut");
  c.parameters = read_numbers(json, "parameters");
  c.metrics = read_numbers(json, "metrics");
  c.figures = read_numbers(json, "figures");
  c.reference = read_numbers(json, "reference");
  for (const Json& item : list(json, "hazards")) c.hazards.push_back(read_hazard(item));
  c.notes = texts(json, "notes");
  c.card = read_card(member(json, "card"));
  for (const Json& item : list(json, "mismatches")) c.mismatches.push_back(read_mismatch(item));
  for (const Json& item : list(json, "charts")) c.charts.push_back(read_chart(item));
  const Json& trace = member(json, "trace");
  c.submission_trace = read_trace(member(trace, "submission"));
  c.reference_trace = read_trace(member(trace, "reference"));
  const double start = c.submission_trace ? start_of(*c.submission_trace) : 0;
  if (c.submission_trace) start_at(start, *c.submission_trace);
  if (c.reference_trace) start_at(start_of(*c.reference_trace), *c.reference_trace);
  for (Hazard& hazard : c.hazards)
    if (hazard.time_ps) hazard.time_ps = std::max(*hazard.time_ps - start, 0.0);
  return c;
}

}  // namespace labrig::reports
