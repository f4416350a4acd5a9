// Trace events: https://docs.google.com/document/d/1CvAClvFfyA5R-PhYUmn5OOQtYMH4h6I0nSsKchNAySU. Written by hand, since
// times are decimals of picoseconds that no double may touch. All ids are counted here, none comes from the report.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <tuple>
#include <utility>
#include <vector>

#include "format_renderers.hpp"
#include "model.hpp"

namespace labrig::reports {
namespace {

std::string quoted(const std::string& text) { return nlohmann::json(text).dump(); }

// A number of the report as a whole one that a double keeps exactly.
std::int64_t whole(double value) {
  constexpr double kMost = 9007199254740991;  // 2^53 - 1
  return std::llround(std::clamp(std::isfinite(value) ? value : 0.0, 0.0, kMost));
}

std::string microseconds(std::int64_t picoseconds) {
  std::string out = fmt::format("{}.{:06}", picoseconds / 1'000'000, picoseconds % 1'000'000);
  out.erase(out.find_last_not_of('0') + 1);
  if (out.back() == '.') out.pop_back();
  return out;
}

bool is_copy(const Span& span) { return span.lane == "up" || span.lane == "down"; }

std::string category(const Span& span) {
  if (!span.sync.empty()) return "sync";
  if (is_copy(span)) return "copy";
  return span.lane == "compute" ? "kernel" : "host";
}

class Writer {
 public:
  explicit Writer(std::size_t cases) : next_thread_(2 * cases + 1) {}

  std::size_t new_thread(std::size_t process, const std::string& name, std::size_t rank) {
    const std::size_t thread = next_thread_++;
    metadata("thread_name", process, thread, "\"name\":" + quoted(name));
    metadata("thread_sort_index", process, thread, fmt::format("\"sort_index\":{}", rank));
    return thread;
  }

  void process(std::size_t process, const std::string& name, const std::string& label) {
    metadata("process_name", process, 0, "\"name\":" + quoted(name));
    metadata("process_sort_index", process, 0, fmt::format("\"sort_index\":{}", process));
    if (!label.empty()) metadata("process_labels", process, 0, "\"labels\":" + quoted(label));
  }

  void span(std::size_t process, std::size_t thread, const Span& span) {
    const std::int64_t start = whole(span.start_ps), duration = std::max<std::int64_t>(0, whole(span.end_ps) - start);
    std::string args;
    if (is_copy(span) || span.bytes > 0) args += fmt::format(",\"bytes\":{}", whole(span.bytes));
    if (is_copy(span) && duration > 0) {
      args += fmt::format(",\"bytes_per_s\":{}", whole(span.bytes * 1e12 / static_cast<double>(duration)));
    }
    if (!span.sync.empty()) args += ",\"wait\":" + quoted(span.sync);
    if (!args.empty()) args.erase(0, 1);
    event(fmt::format(R"("ph":"X","pid":{},"tid":{},"ts":{},"dur":{},"cat":"{}","name":{},"args":{{{}}})", process,
                      thread, microseconds(start), microseconds(duration), category(span),
                      quoted(span.name.empty() ? "unnamed" : span.name), args));
  }

  // A counter each: those of one event would be stacked, and allocated memory is part of the reserved.
  void memory(std::size_t process, const MemoryPoint& point) {
    for (const auto& [name, bytes] : {std::pair("allocated", point.allocated_bytes),
                                      {"reserved", point.reserved_bytes},
                                      {"pinned", point.pinned_bytes}}) {
      event(fmt::format(R"("ph":"C","pid":{},"tid":0,"ts":{},"cat":"memory","name":"{} memory","args":{{"bytes":{}}})",
                        process, microseconds(whole(point.time_ps)), name, whole(bytes)));
    }
  }

  // Where its time was not kept, at `end`.
  void hazard(std::size_t process, std::size_t thread, const Hazard& hazard, double end) {
    event(fmt::format(
        R"("ph":"i","s":"p","pid":{},"tid":{},"ts":{},"cat":"hazard","name":{},"args":{{"text":{},"earlier":{},"later":{},"buffer":{},"pairs":{},"bytes":{},"time_known":{}}})",
        process, thread, microseconds(whole(hazard.time_ps.value_or(end))),
        quoted(hazard.kind.empty() ? "hazard" : hazard.kind), quoted(hazard.text), quoted(hazard.earlier),
        quoted(hazard.later), quoted(hazard.buffer), whole(hazard.count), whole(hazard.bytes),
        hazard.time_ps.has_value()));
  }

  const std::string& events() const { return events_; }

 private:
  void event(const std::string& members) { events_ += (events_.empty() ? "\n{" : ",\n{") + members + "}"; }
  void metadata(std::string_view name, std::size_t process, std::size_t thread, const std::string& args) {
    event(fmt::format(R"("ph":"M","pid":{},"tid":{},"name":"{}","args":{{{}}})", process, thread, name, args));
  }

  std::string events_;
  std::size_t next_thread_;
};

// Bars of one thread must not overlap: what does goes to a further row of its lane. The host comes first, then stream
// by stream what goes up, computes, comes down.
using Lane = std::pair<std::int64_t, int>;
Lane lane_of(const Span& span) {
  if (span.lane == "up") return {span.stream, 1};
  if (span.lane == "compute") return {span.stream, 2};
  if (span.lane == "down") return {span.stream, 3};
  return {0, 0};
}

std::string lane_name(const Lane& lane, std::size_t row) {
  static constexpr const char* kEngines[] = {"host", "upload", "compute", "download"};
  std::string name = kEngines[lane.second];
  if (lane.second != 0) name += fmt::format(", stream {}", lane.first);
  return row == 0 ? name : fmt::format("{} ({})", name, row + 1);
}

void add_timeline(Writer& writer, std::size_t process, std::size_t host, const Trace& trace) {
  const auto order = [](const Lane& a, const Lane& b) {
    return std::tuple(a.second != 0, a.first, a.second) < std::tuple(b.second != 0, b.first, b.second);
  };
  std::map<Lane, std::vector<const Span*>, decltype(order)> lanes(order);
  for (const Span& span : trace.timeline) lanes[lane_of(span)].push_back(&span);
  std::size_t rank = 1;
  for (const auto& [lane, spans] : lanes) {
    struct Row {
      std::size_t thread;
      double end;
    };
    std::vector<Row> rows;
    if (lane.second == 0) rows.push_back({host, 0});
    for (const Span* span : spans) {
      auto row = std::find_if(rows.begin(), rows.end(), [&](const Row& r) { return r.end <= span->start_ps; });
      if (row == rows.end()) {
        rows.push_back({writer.new_thread(process, lane_name(lane, rows.size()), rank++), 0});
        row = rows.end() - 1;
      }
      row->end = span->end_ps;
      writer.span(process, row->thread, *span);
    }
  }
}

void add_process(Writer& writer, std::size_t process, const Case& one, bool yours) {
  const std::optional<Trace>& trace = yours ? one.submission_trace : one.reference_trace;
  const std::string label = !trace ? "no trace kept" : trace->cut ? "cut: there was more than is kept" : "";
  writer.process(process, fmt::format("{}: {}", one.id, yours ? "yours" : "reference"), label);
  const std::size_t host = writer.new_thread(process, "host", 0);
  if (trace) {
    add_timeline(writer, process, host, *trace);
    for (const MemoryPoint& point : trace->memory) writer.memory(process, point);
  }
  if (!yours) return;
  for (const Hazard& hazard : one.hazards) writer.hazard(process, host, hazard, trace ? trace->end_ps : 0);
}

}  // namespace

std::string render_chrome_trace(const nlohmann::json& json) {
  const Report report = read_report(json);
  Writer writer(report.cases.size());
  for (std::size_t i = 0; i < report.cases.size(); ++i) {
    add_process(writer, 2 * i + 1, report.cases[i], true);
    add_process(writer, 2 * i + 2, report.cases[i], false);
  }
  return fmt::format(
      "{{\"displayTimeUnit\":\"ns\",\"otherData\":{{\"lab\":{},\"version\":{},\"submission\":{}}},\n"
      "\"traceEvents\":[{}\n]}}\n",
      quoted(report.lab_id), quoted(report.lab_version), quoted(report.name), writer.events());
}

}  // namespace labrig::reports
