// report.json as types. Every text in here has been through printable() (text.hpp): the renderers can trust it up to
// escaping. Missing or mistyped members become empty ones, so that a report about a disaster still renders.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace labrig::reports {

struct Reason {
  std::string code, text;
};

struct Explain {
  std::string what, where, cause, next, evidence;
};

struct CheckMetrics {
  std::optional<double> value, reference, limit, ratio;  // a ratio without end is infinity
  std::string unit;
  bool any() const { return value || reference || limit || ratio; }
};

struct Share {
  std::string case_id, code;
  double share = 0;
};

struct Check {
  std::string id, title, status, handout;
  std::int64_t task = 0;
  double points = 0, max_points = 0;
  Reason reason;  // empty texts when there is none
  std::vector<std::string> hints, facts;
  bool hidden = false;
  std::optional<Explain> explain;
  CheckMetrics metrics;
  std::vector<Share> cases;
};

struct Span {
  std::string lane, name;
  std::int64_t stream = 0;
  double start_ps = 0, end_ps = 0, bytes = 0;
  std::string sync = {};  // where the host waits for the card: explicit, value, copy, implicit
};
struct MemoryPoint {
  double time_ps = 0, allocated_bytes = 0, reserved_bytes = 0, pinned_bytes = 0;
};
// All blocks of one name that were alive when most was allocated.
struct Alive {
  std::string name;
  double bytes = 0, count = 0;
};
struct Trace {
  std::vector<Span> timeline;
  std::vector<MemoryPoint> memory;
  bool cut = false;
  double end_ps = 0;  // of the last span or point
  std::optional<double> peak_ps = {};
  std::vector<Alive> alive = {};
};

// Accesses to the same bytes that nothing orders.
struct Hazard {
  std::string kind, text, earlier, later, buffer;
  std::optional<std::int64_t> earlier_stream, later_stream;  // none: the host
  double count = 0, bytes = 0;
  std::optional<double> time_ps = {};
};

// What the case's card can do.
struct Card {
  std::string title;
  double capacity_bytes = 0, flops_per_s = 0, matrix_flops_per_s = 0, memory_bytes_per_s = 0;
  double up_bytes_per_s = 0, down_bytes_per_s = 0;
};

// A tensor that is not as expected.
struct Mismatch {
  std::string what, code, text, pattern, pattern_text;
  double wrong = 0, total = 0, pattern_count = 0;
};

// Curves of the lab's judge.
struct ChartAxis {
  std::string label, unit;
  bool logarithmic = false;
};
struct ChartPoint {
  double x = 0;
  std::optional<double> y;  // none: a gap
};
struct ChartLine {
  std::string label, role;
  std::vector<ChartPoint> points;
};
struct Chart {
  std::string id, title, read;
  ChartAxis x, y;
  std::vector<ChartLine> lines;
};

using Numbers = std::vector<std::pair<std::string, double>>;  // in the order of known_metrics(), then by name

struct Case {
  std::string id, scenario, kind, device, profile, seed, status, phase, output;
  Reason reason;
  bool hidden = false, output_cut = false;
  Numbers parameters, metrics, figures, reference;
  std::vector<Hazard> hazards;
  std::vector<std::string> notes;
  std::optional<Trace> submission_trace, reference_trace;  // both on a clock that starts with the call
  std::optional<Card> card;
  std::vector<Mismatch> mismatches;
  std::vector<Chart> charts;
};

struct Task {
  std::int64_t id = 0;
  std::string title;
};

struct Report {
  std::string lab_id, lab_version, lab_title, name, hash, source, verdict;
  double pass_mark = 60;
  std::optional<double> score;
  double max_score = 0;
  bool passed = false;
  bool students_copy = false;  // without what hidden cases hold
  struct NextStep {
    std::string check, text, command;
  };
  std::optional<NextStep> next_step;
  std::vector<Task> tasks;
  std::vector<Check> checks;
  std::vector<Case> cases;
  std::vector<std::pair<std::string, std::string>> environment;  // name, value
  std::vector<std::string> notes;
  std::string secret;
};

Report read_report(const nlohmann::json& report);
// The number of that name, or nothing.
std::optional<double> find(const Numbers& numbers, std::string_view name);

}  // namespace labrig::reports
