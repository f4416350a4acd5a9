// Reading is forgiving and total: one accessor a type, each with a default.
#include "model.hpp"

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>

#include "text.hpp"
#include "units.hpp"

namespace labrig::reports {
namespace {

using Json = nlohmann::json;

const Json& member(const Json& object, const char* key) {
  static const Json nothing;
  if (!object.is_object()) return nothing;
  const auto found = object.find(key);
  return found == object.end() ? nothing : *found;
}

std::string text_of(const Json& value, Lines lines = Lines::one, std::size_t limit = kLineLimit) {
  return value.is_string() ? printable(value.get_ref<const std::string&>(), lines, limit) : std::string();
}
std::string text(const Json& object, const char* key) { return text_of(member(object, key)); }
// Sentences of several lines (three-line errors) keep their newlines.
std::string prose(const Json& object, const char* key) { return text_of(member(object, key), Lines::many); }

double number(const Json& object, const char* key) {
  const Json& value = member(object, key);
  return value.is_number() ? value.get<double>() : 0.0;
}
std::optional<double> maybe_number(const Json& object, const char* key) {
  const Json& value = member(object, key);
  return value.is_number() ? std::optional(value.get<double>()) : std::nullopt;
}
bool flag(const Json& object, const char* key) {
  const Json& value = member(object, key);
  return value.is_boolean() && value.get<bool>();
}
std::int64_t integer(const Json& object, const char* key) {
  const Json& value = member(object, key);
  return value.is_number_integer() ? value.get<std::int64_t>() : 0;
}

const Json& list(const Json& object, const char* key) {
  static const Json empty = Json::array();
  const Json& value = member(object, key);
  return value.is_array() ? value : empty;
}
std::vector<std::string> texts(const Json& object, const char* key) {
  std::vector<std::string> out;
  for (const Json& item : list(object, key)) out.push_back(text_of(item, Lines::many));
  return out;
}

Reason read_reason(const Json& object) {
  const Json& reason = member(object, "reason");
  return {text(reason, "code"), prose(reason, "text")};
}

Numbers read_numbers(const Json& object, const char* key) {
  Numbers out;
  const Json& numbers = member(object, key);
  if (!numbers.is_object()) return out;
  const auto add = [&](const std::string& name, const Json& value) {
    if (value.is_number()) out.emplace_back(printable(name), value.get<double>());
  };
  const auto& known = known_metrics();
  for (const MetricInfo& metric : known) add(metric.name, member(numbers, metric.name.c_str()));
  for (const auto& [name, value] : numbers.items()) {
    const std::string& wanted = name;
    if (std::none_of(known.begin(), known.end(), [&](const MetricInfo& m) { return m.name == wanted; }))
      add(name, value);
  }
  return out;
}

Check read_check(const Json& json) {
  Check check;
  check.id = text(json, "id");
  check.title = text(json, "title");
  check.status = text(json, "status");
  check.handout = text(json, "handout");
  check.task = integer(json, "task");
  check.points = number(json, "points");
  check.max_points = number(json, "max_points");
  check.reason = read_reason(json);
  check.hints = texts(json, "hints");
  check.facts = texts(json, "facts");
  check.hidden = text(json, "visibility") == "hidden";
  if (const Json& e = member(json, "explain"); e.is_object()) {
    check.explain =
        Explain{prose(e, "what"), prose(e, "where"), prose(e, "cause"), prose(e, "next"), prose(e, "evidence")};
  }
  const Json& metrics = member(json, "metrics");
  check.metrics.value = maybe_number(metrics, "value");
  check.metrics.reference = maybe_number(metrics, "reference");
  check.metrics.limit = maybe_number(metrics, "limit");
  check.metrics.ratio = maybe_number(metrics, "ratio");
  if (metrics.is_object() && metrics.contains("ratio") && metrics["ratio"].is_null() && !check.metrics.limit) {
    check.metrics.ratio = std::numeric_limits<double>::infinity();
  }
  check.metrics.unit = text(metrics, "unit");
  for (const Json& item : list(json, "cases")) {
    check.cases.push_back({text(item, "case"), text(item, "code"), number(item, "share")});
  }
  return check;
}

std::optional<Trace> read_trace(const Json& json) {
  if (!json.is_object()) return std::nullopt;
  Trace trace;
  trace.cut = flag(json, "cut");
  for (const Json& item : list(json, "timeline")) {
    Span span{text(item, "lane"),       text(item, "name"),     integer(item, "stream"),
              number(item, "start_ps"), number(item, "end_ps"), number(item, "bytes")};
    span.end_ps = std::max(span.start_ps, span.end_ps);
    trace.timeline.push_back(std::move(span));
  }
  for (const Json& item : list(json, "memory")) {
    trace.memory.push_back({number(item, "time_ps"), number(item, "allocated_bytes"), number(item, "reserved_bytes")});
  }
  std::stable_sort(trace.timeline.begin(), trace.timeline.end(),
                   [](const Span& a, const Span& b) { return a.start_ps < b.start_ps; });
  std::stable_sort(trace.memory.begin(), trace.memory.end(),
                   [](const MemoryPoint& a, const MemoryPoint& b) { return a.time_ps < b.time_ps; });
  // The clock may have run before the first thing that counts: start both sides of a chart at 0.
  double origin = std::numeric_limits<double>::infinity();
  if (!trace.timeline.empty()) {
    origin = trace.timeline.front().start_ps;
  } else if (!trace.memory.empty()) {
    origin = trace.memory.front().time_ps;
  }
  for (Span& span : trace.timeline) {
    span.start_ps -= origin, span.end_ps -= origin;
    trace.end_ps = std::max(trace.end_ps, span.end_ps);
  }
  for (MemoryPoint& point : trace.memory) {
    point.time_ps = std::max(0.0, point.time_ps - origin);
    trace.end_ps = std::max(trace.end_ps, point.time_ps);
  }
  return trace;
}

Hazard read_hazard(const Json& json) {
  const Json &earlier = member(json, "earlier"), &later = member(json, "later");
  const auto stream = [](const Json& side) {
    const Json& value = member(side, "stream");
    return value.is_number_integer() ? std::optional(value.get<std::int64_t>()) : std::nullopt;
  };
  return {text(json, "kind"), prose(json, "text"), text(earlier, "what"), text(later, "what"),  text(json, "buffer"),
          stream(earlier),    stream(later),       number(json, "count"), number(json, "bytes")};
}

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
  const Json& trace = member(json, "trace");
  c.submission_trace = read_trace(member(trace, "submission"));
  c.reference_trace = read_trace(member(trace, "reference"));
  return c;
}

void read_environment(const Json& json, Report& report) {
  report.secret = text(json, "secret");
  report.notes = texts(json, "notes");
  if (!json.is_object()) return;
  static const std::vector<std::pair<const char*, const char*>> order = {
      {"labrig", "labrig"}, {"build_tag", "build tag"}, {"compiler", "compiler"}, {"os", "system"},
      {"cpu", "processor"}, {"cuda", "CUDA"},           {"secret", "secret"},     {"generated_at", "made at"}};
  for (const auto& [key, label] : order) {
    if (const std::string value = text(json, key); !value.empty()) report.environment.emplace_back(label, value);
  }
  if (const auto wall = maybe_number(json, "wall_ms")) {
    report.environment.emplace_back("wall time", human(*wall * 1e9, "ps"));
  }
}

}  // namespace

std::optional<double> find(const Numbers& numbers, std::string_view name) {
  for (const auto& [key, value] : numbers) {
    if (key == name) return value;
  }
  return std::nullopt;
}

Report read_report(const Json& json) {
  if (!json.is_object()) throw Json::type_error::create(302, "a report must be a JSON object", &json);
  Report report;
  const Json& lab = member(json, "lab");
  report.lab_id = text(lab, "id");
  report.lab_version = text(lab, "version");
  report.lab_title = text(lab, "title");
  report.pass_mark = maybe_number(lab, "pass_mark").value_or(report.pass_mark);
  const Json& submission = member(json, "submission");
  report.name = text(submission, "name");
  report.hash = text(submission, "hash");
  report.source = text(submission, "source");
  report.score = maybe_number(json, "score");
  report.max_score = number(json, "max_score");
  report.passed = flag(json, "passed");
  report.verdict = text(json, "verdict");
  if (const Json& step = member(json, "next_step"); step.is_object()) {
    report.next_step = Report::NextStep{text(step, "check"), prose(step, "text"), text(step, "command")};
  }
  for (const Json& item : list(json, "tasks")) report.tasks.push_back({integer(item, "id"), text(item, "title")});
  for (const Json& item : list(json, "checks")) report.checks.push_back(read_check(item));
  for (const Json& item : list(json, "cases")) report.cases.push_back(read_case(item));
  read_environment(member(json, "environment"), report);
  return report;
}

}  // namespace labrig::reports
