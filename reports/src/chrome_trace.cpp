// What the card did, as a trace that Perfetto and chrome://tracing open: strict JSON, times in microseconds from the
// start of a case as numbers. Every case has two processes, the submission's and the reference's; its threads are the
// host and, for each stream, the engines; memory is a counter.
#include <fmt/format.h>

#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "format_renderers.hpp"
#include "model.hpp"

namespace labrig::reports {
namespace {

using Json = nlohmann::ordered_json;

double microseconds(double picoseconds) { return picoseconds / 1e6; }

struct Lane {
  int order;
  const char* name;
};
Lane lane_of(const std::string& lane) {
  if (lane == "host") return {0, "host"};
  if (lane == "up") return {1, "upload engine"};
  if (lane == "compute") return {2, "compute engine"};
  return {3, "download engine"};
}

// The host first, then the streams, each with its engines in the order of work.
std::int64_t thread_of(const Span& span) {
  return span.lane == "host" ? 0 : 1 + span.stream * 4 + lane_of(span.lane).order;
}

Json metadata(const char* name, std::int64_t pid, std::int64_t tid, const char* key, const Json& value) {
  return {{"ph", "M"}, {"name", name}, {"pid", pid}, {"tid", tid}, {"args", {{key, value}}}};
}

Json event_of(const Span& span, std::int64_t pid) {
  const double duration = microseconds(span.end_ps - span.start_ps);
  Json arguments = Json::object();
  if (span.lane != "host") arguments["stream"] = span.stream;
  if (span.bytes > 0) {
    arguments["bytes"] = span.bytes;
    // A copy of no time has no rate: infinity is no JSON.
    if (span.lane != "compute" && duration > 0) arguments["GB/s"] = span.bytes / (duration * 1e3);
  }
  if (!span.sync.empty()) arguments["waits by"] = span.sync;
  const char* category = !span.sync.empty()       ? "sync"
                         : span.lane == "host"    ? "host"
                         : span.lane == "compute" ? "kernel"
                                                  : "copy";
  return {{"ph", "X"},
          {"cat", category},
          {"name", span.name.empty() ? "unnamed" : span.name},
          {"pid", pid},
          {"tid", thread_of(span)},
          {"ts", microseconds(span.start_ps)},
          {"dur", duration < 0 ? 0 : duration},
          {"args", arguments}};
}

Json counter_of(const MemoryPoint& point, std::int64_t pid) {
  return {{"ph", "C"},
          {"name", "memory (bytes)"},
          {"pid", pid},
          {"tid", 0},
          {"ts", microseconds(point.time_ps)},
          {"args",
           {{"allocated", point.allocated_bytes}, {"reserved", point.reserved_bytes}, {"pinned", point.pinned_bytes}}}};
}

Json hazard_of(const Hazard& hazard, std::int64_t pid) {
  return {{"ph", "i"},
          {"s", "p"},
          {"cat", "hazard"},
          {"name", "hazard: " + hazard.kind},
          {"pid", pid},
          {"tid", 0},
          {"ts", microseconds(hazard.time_ps.value_or(0))},
          {"args", {{"earlier", hazard.earlier}, {"later", hazard.later}, {"tensor", hazard.buffer}}}};
}

void add_side(Json& events, const Trace& trace, const std::string& name, std::int64_t pid) {
  events.push_back(metadata("process_name", pid, 0, "name", name));
  events.push_back(metadata("process_sort_index", pid, 0, "sort_index", pid));
  std::map<std::int64_t, std::string> threads;
  for (const Span& span : trace.timeline)
    threads[thread_of(span)] =
        span.lane == "host" ? "host" : fmt::format("stream {}: {}", span.stream, lane_of(span.lane).name);
  for (const auto& [tid, title] : threads) {
    events.push_back(metadata("thread_name", pid, tid, "name", title));
    events.push_back(metadata("thread_sort_index", pid, tid, "sort_index", tid));
  }
  for (const Span& span : trace.timeline) events.push_back(event_of(span, pid));
  for (const MemoryPoint& point : trace.memory) events.push_back(counter_of(point, pid));
}

}  // namespace

std::string render_chrome_trace(const nlohmann::json& json) {
  const Report report = read_report(json);
  Json events = Json::array();
  std::int64_t pid = 0;
  for (const Case& one : report.cases) {
    if (one.submission_trace) {
      add_side(events, *one.submission_trace, one.id + ": yours", ++pid);
      for (const Hazard& hazard : one.hazards)
        if (hazard.time_ps) events.push_back(hazard_of(hazard, pid));
    }
    if (one.reference_trace) add_side(events, *one.reference_trace, one.id + ": reference", ++pid);
  }
  const Json trace = {
      {"displayTimeUnit", "ns"},
      {"otherData",
       {{"producer", "labrig"}, {"lab", report.lab_id}, {"submission", report.name}, {"hash", report.hash}}},
      {"traceEvents", events}};
  return trace.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace labrig::reports
