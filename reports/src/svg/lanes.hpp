// The rows of a timeline: who was busy, and which bars are drawn. A lane is the host or an engine; where a side uses
// several streams, each stream of an engine has a row of its own.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model.hpp"

namespace labrig::reports::svg {

struct Sides {
  const Trace* yours = nullptr;  // either may be missing
  const Trace* reference = nullptr;
  double end_ps() const;
  bool several_streams() const;  // on either side: then rows are named by their stream on both
};

struct Lane {
  std::string_view id, label;
};
const std::vector<Lane>& lanes();
// Those in which either side has something.
std::vector<Lane> used_lanes(const Sides& sides);

// The streams of a side's engines, each once, in order.
std::vector<std::int64_t> streams_of(const Trace& trace);

// A row: all spans of a lane, or those of some streams.
struct Row {
  Lane lane;
  std::string label;                  // "Upload engine · stream 3"
  std::vector<std::int64_t> streams;  // empty: all
  bool whole = true;                  // it holds all of its lane
  bool holds(const Span& span) const;
};
// The rows of a lane of one side; beyond a handful of streams the last row takes the rest.
std::vector<Row> rows_of(const Trace& trace, const Lane& lane, bool name_streams);

// A bar: one span, or many short ones that would not be told apart.
struct Bar {
  double start = 0, end = 0;  // fractions of the axis
  double busy_ps = 0, bytes = 0;
  std::size_t pieces = 0;
  std::string name;  // empty: of several names
  std::string sync;  // why the host waits; empty: it does not
};
// Spans shorter than a few pixels are joined with their short neighbours, more of them until at most `most` bars are
// left.
std::vector<Bar> bars_of(const std::vector<Span>& spans, double end_ps, std::size_t most);
std::vector<Bar> bars_of(const Trace& trace, std::string_view lane, double end_ps, std::size_t most);
// A row's spans: the waits of the host, or everything else.
std::vector<Span> spans_of(const Trace& trace, const Row& row, bool waits);

// When a copy and a kernel ran at once, as spans in order of time.
std::vector<Span> overlaps_of(const Trace& trace);

double total_ps(const std::vector<Span>& spans);

// Whether a name says that a recording has joined several operations: "mul, add, … (4)".
bool recorded_as_one(std::string_view name);

// "to read a value", "inside a blocking copy", …
std::string_view cause_of(std::string_view sync);

}  // namespace labrig::reports::svg
