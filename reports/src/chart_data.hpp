// The numbers behind the charts, as rows for their tables.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "model.hpp"
#include "svg/memory.hpp"
#include "svg/timeline.hpp"

namespace labrig::reports {

// One row an operation of a lane: how often, how much, how long; both sides. At most `most` rows, the longest first
// within a lane; `left_out` tells how many more there are.
nlohmann::json operation_rows(const svg::Sides& sides, std::size_t most, std::size_t& left_out);
// Memory of both sides at `count` evenly spaced moments.
nlohmann::json memory_rows(const svg::Sides& sides, int count);
// What the curves of a chart hold, by x: at most `most` rows, evenly chosen.
nlohmann::json chart_rows(const Chart& chart, std::size_t most);
// What was alive at the peak, both sides beside each other by name; bars in percent of the largest.
nlohmann::json alive_rows(const svg::Sides& sides);
// What the lines of the memory chart are, with their peaks.
nlohmann::json memory_key(const svg::Sides& sides);

}  // namespace labrig::reports
