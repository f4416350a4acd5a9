// Who was busy when: host, upload engine, compute engine, download engine; the student's run above the reference's on
// one time axis. Waits of the host are hollow bars with a mark, hazards numbered marks, and the time in which a copy
// and a kernel ran at once is shaded through the engines and named in a row of its own.
//
//   Your submission                2.41 ms
//   Hazards          1   2
//   Host                    33 waits, 54 %
//   v[  ]v[    ]  [=]
//   Upload engine    80 copies · busy 82 %
//   [====][=][====][=][====][=][====][=]
//   Compute engine · stream 3 ...
//   Copy and kernel at once    660 us
//   Reference                      1.05 ms
//   ...
//   0        500 us       1 ms
//
// For scripts: svg.timeline > g.side-yours, g.side-reference; in them svg.row with its lane (host, up, compute, down,
// both) > rect.bar (.joined, .wait), and g.hazard with data-hazard; each bar and hazard has a <title>. Positions across
// are percentages: a wider picture zooms.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "model.hpp"
#include "svg/lanes.hpp"

namespace labrig::reports::svg {

struct TimelineOptions {
  std::size_t most_bars_a_row = 60;
  // The card's own counts; where they are missing, spans are counted.
  const Numbers* metrics = nullptr;
  const Numbers* reference_metrics = nullptr;
  // Marked in the student's run, by their number in the list.
  const std::vector<Hazard>* hazards = nullptr;
};
std::string timeline(const Sides& sides, const std::string& id, const TimelineOptions& options);

// Rows that will be drawn, for sharing out the bars of a page.
std::size_t rows_drawn(const Sides& sides);

// Hazards at about the same place share a mark.
struct HazardMark {
  double at = 0;                     // fraction of the axis
  std::vector<std::size_t> numbers;  // from 1
};
std::vector<HazardMark> hazard_marks(const std::vector<Hazard>& hazards, double end_ps);

}  // namespace labrig::reports::svg
