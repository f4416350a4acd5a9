// The charts of a case as views for case.mustache: the bottleneck's verdict, roofline, timeline, memory, the judge's
// curves. Read next: chart_data.hpp (the tables beside them), bottleneck.hpp (the rule of the verdict), svg/ (the
// pictures).
#pragma once

#include <cstddef>
#include <nlohmann/json_fwd.hpp>

#include "model.hpp"
#include "svg/lanes.hpp"

namespace labrig::reports {

svg::Sides sides_of(const Case& c);

// Figures of a call that did not return are a part of the work: nothing to compare.
bool comparable(const Case& c);

// `number` makes the ids of the pictures unique on the page.
// `most_bars_a_row`: of the timeline; 0: neither timeline nor memory nor roofline is drawn, and the view says so.
void add_chart_views(const Case& c, std::size_t number, std::size_t most_bars_a_row, nlohmann::json& view);

}  // namespace labrig::reports
