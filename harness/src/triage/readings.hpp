// A table of memory readings (CSV): a column for the phase, one for the step, and columns of sizes. Column names say
// what they hold (allocated, reserved, peak, free, used, total), the unit (_mb, _gb, _bytes) and the version ("before",
// "after" a fix).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "labrig/triage.hpp"

namespace labrig::triage {

struct Reading {
  std::int64_t row = 0;  // of the table, from 0, without the heading
  std::string phase;     // "train", "eval", or as written
  double step = 0;
  double value = 0;
};

struct Column {
  std::string name, what;  // what: "allocated", "reserved", "peak", "free", "total"
  std::string version;     // "before", "after", or ""
  std::string unit;        // for people: "MB", "bytes", ""
  std::vector<Reading> readings;
};

struct Readings {
  std::vector<Column> columns;
  bool has_phase = false, has_step = false;
  std::int64_t rows = 0;
  std::vector<std::string> unread;

  const Column* find(std::string_view what, std::string_view version) const;
};

// None where the text has no heading that names a size, or no row of numbers.
std::optional<Readings> read_readings(std::string_view text);
Diagnosis diagnose(const Readings& readings);

}  // namespace labrig::triage
