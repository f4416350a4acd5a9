// Layout in pixels downwards, in percent across. A row is a line of text over a line of bars.
#include "svg/timeline.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "svg/axis.hpp"
#include "text.hpp"
#include "units.hpp"

namespace labrig::reports::svg {
namespace {

constexpr int kBarHeight = 14, kLabelHeight = 15, kRowGap = 6, kHeadHeight = 22, kWaitMark = 6;  // pixels
constexpr double kWidthOfALetter = 0.0068;  // of a chart on a desktop: 6.5 px of 950
constexpr double kSmallestBar = 0.0015;
constexpr double kNearHazards = 0.03;

std::string title_of(const Bar& bar, double end_ps) {
  const std::string name = bar.name.empty() ? "several operations" : bar.name;
  std::string out = bar.pieces > 1 ? fmt::format("{} × {}", bar.pieces, name) : name;
  if (!bar.sync.empty()) out += fmt::format(", host waits {}", cause_of(bar.sync));
  if (bar.bytes > 0) out += ", " + bytes_text(bar.bytes);
  out += fmt::format(": {} – {}", time_text(bar.start * end_ps), time_text(bar.end * end_ps));
  if (bar.pieces > 1) out += fmt::format(", busy for {}", time_text(bar.busy_ps));
  return out;
}

// Within the picture of its row.
std::string draw(const Bar& bar, double end_ps) {
  const double width = std::max(bar.end - bar.start, kSmallestBar);
  const std::string x = percent(std::min(bar.start, 1 - kSmallestBar)), w = percent(width);
  const bool several = bar.pieces > 1, joined = several || recorded_as_one(bar.name), wait = !bar.sync.empty();
  std::string out =
      fmt::format("<rect class=\"bar{}{}\" x=\"{}\" width=\"{}\" height=\"{}\"><title>{}</title></rect>",
                  joined ? " joined" : "", wait ? " wait" : "", x, w, kBarHeight, escape_html(title_of(bar, end_ps)));
  if (wait) out += fmt::format("<svg class=\"mark flag\" x=\"{}\" y=\"-6\"><path d=\"M0 0H6L0 6Z\"/></svg>", x);
  const std::string label = bar.name.empty() ? "" : several ? fmt::format("{} × {}", bar.pieces, bar.name) : bar.name;
  if (!label.empty() && width > static_cast<double>(label.size() + 2) * kWidthOfALetter) {
    out += fmt::format("<svg x=\"{}\" width=\"{}\" height=\"{}\"><text class=\"{}\" x=\"4\" y=\"11\">{}</text></svg>",
                       x, w, kBarHeight, joined || wait ? "bar-name on-joined" : "bar-name", escape_html(label));
  }
  return out;
}

struct Use {
  std::size_t pieces = 0;
  double bytes = 0, busy_ps = 0, waits_ps = 0;
  std::string mostly;  // the operation that takes more than half of the busy time
};
Use use_of(const Trace& trace, const Row& row) {
  Use use;
  std::map<std::string_view, double> by_name;
  for (const Span& span : trace.timeline) {
    if (!row.holds(span)) continue;
    const double length = span.end_ps - span.start_ps;
    use.pieces += 1;
    use.bytes += span.bytes;
    use.busy_ps += length;
    if (!span.sync.empty()) use.waits_ps += length;
    by_name[span.name] += length;
  }
  for (const auto& [name, time_ps] : by_name) {
    if (time_ps > use.busy_ps / 2) use.mostly = name;
  }
  return use;
}

std::string share_text(double part, double whole) {
  return fmt::format("{:.0f} %", whole > 0 ? std::min(1.0, part / whole) * 100 : 0);
}

// What the card counted for a whole lane: its pieces, and how long the engine was busy. Spans of a trace may be joined.
struct Counted {
  std::string_view pieces, busy, one, many;
};
Counted counted_as(std::string_view lane) {
  if (lane == "up") return {"h2d_copies", "busy_up_ps", "copy", "copies"};
  if (lane == "down") return {"d2h_copies", "busy_down_ps", "copy", "copies"};
  if (lane == "compute") return {"launches", "busy_compute_ps", "kernel", "kernels"};
  return {"", "", "piece", "pieces"};
}

std::string use_text(const Trace& trace, const Row& row, const Numbers* metrics) {
  const Use use = use_of(trace, row);
  if (use.pieces == 0) return "idle";
  if (row.lane.id == "host") {
    std::string out = "waits " + share_text(use.waits_ps, trace.end_ps);
    return out + " · works " + share_text(use.busy_ps - use.waits_ps, trace.end_ps);
  }
  const Counted name = counted_as(row.lane.id);
  double pieces = static_cast<double>(use.pieces), busy = use.busy_ps;
  if (metrics != nullptr && row.whole && !trace.cut) {
    pieces = find(*metrics, name.pieces).value_or(pieces);
    busy = find(*metrics, name.busy).value_or(busy);
  }
  std::string out;
  if (row.whole) out = fmt::format("{} {}", count_text(pieces), pieces == 1 ? name.one : name.many);
  if (use.bytes > 0 && row.lane.id != "compute") out += (out.empty() ? "" : " · ") + bytes_text(use.bytes);
  return out + (out.empty() ? "busy " : " · busy ") + share_text(busy, trace.end_ps);
}

// Names of students' tensors can be long; the whole name stands in the table.
std::string shortened(const std::string& text) { return text.size() <= 48 ? text : printable(text, Lines::one, 40); }

// How much a row did, where the row is narrow: only how busy it was.
std::string shorter_on_phones(const std::string& use, const Row& row) {
  const auto busy = use.rfind("busy ");
  if (row.streams.empty() || busy == std::string::npos || busy == 0) return use;
  return fmt::format("<tspan class=\"mostly\">{}</tspan>{}", use.substr(0, busy), use.substr(busy));
}

// `use` is SVG, the others are text.
std::string row_label(std::string_view label, const std::string& mostly, const std::string& use, int y) {
  return fmt::format(
      "<text class=\"lane\" x=\"0\" y=\"{0}\">{1}<tspan class=\"mostly\" dx=\"8\">{2}</tspan></text>"
      "<text class=\"use\" x=\"100%\" y=\"{0}\" text-anchor=\"end\">{3}</text>",
      y + 11, escape_html(label), escape_html(mostly), use);
}

struct Side {
  const Trace& trace;
  std::string_view heading, css_class;
  const Numbers* metrics;
  const std::vector<Hazard>* hazards;
  bool name_streams;
};

// "3.21 ms"; of a recording that was cut, which part of the run it is.
std::string length_text(const Side& side) {
  const auto whole = side.metrics != nullptr ? find(*side.metrics, "time_ps") : std::nullopt;
  if (!side.trace.cut) return time_text(side.trace.end_ps);
  return whole && *whole > side.trace.end_ps
             ? fmt::format("only the first {} of {}", time_text(side.trace.end_ps), time_text(*whole))
             : fmt::format("only the first {}", time_text(side.trace.end_ps));
}

std::string draw_row(const Side& side, const Row& row, double end_ps, std::size_t most, int& y) {
  const Use use = use_of(side.trace, row);
  const std::string mostly = use.pieces > 1 && !use.mostly.empty() ? "mostly " + use.mostly : use.mostly;
  std::string out =
      row_label(row.label, shortened(mostly), shorter_on_phones(use_text(side.trace, row, side.metrics), row), y);
  const auto waits = bars_of(spans_of(side.trace, row, true), end_ps, most);
  y += kLabelHeight + (waits.empty() ? 0 : kWaitMark - 1);
  out += fmt::format("<rect class=\"track\" x=\"0\" y=\"{}\" width=\"{}\" height=\"{}\"/>", y,
                     percent(side.trace.end_ps / end_ps), kBarHeight);
  out += fmt::format("<svg class=\"row {}\" y=\"{}\" height=\"{}\" overflow=\"visible\">", row.lane.id, y, kBarHeight);
  for (const Bar& bar : bars_of(spans_of(side.trace, row, false), end_ps, most)) out += draw(bar, end_ps);
  for (const Bar& bar : waits) out += draw(bar, end_ps);
  out += "</svg>";
  y += kBarHeight + kRowGap;
  return out;
}

// A row that names what is shaded through the engines between `top` and it. Where a recording has joined operations,
// its spans overlap for longer than the card counted: what is far from the count is not drawn.
std::string draw_overlap(const Side& side, double end_ps, std::size_t most, int top, int& y) {
  std::vector<Span> spans = overlaps_of(side.trace);
  const double seen = total_ps(spans);
  double sum = seen;
  if (side.metrics != nullptr && !side.trace.cut) sum = find(*side.metrics, "overlap").value_or(seen);
  if (!(sum > 0)) return {};
  const bool fine = seen > 2 * sum;
  if (fine) spans.clear();
  std::string out = row_label("Copy and kernel at once", fine ? "in pieces too short to draw" : "",
                              time_text(sum) + " · " + share_text(sum, side.trace.end_ps), y);
  y += kLabelHeight;
  std::string bars;
  for (const Bar& bar : bars_of(spans, end_ps, most)) {
    const std::string x = percent(bar.start), width = percent(std::max(bar.end - bar.start, kSmallestBar));
    out += fmt::format("<rect class=\"shade\" x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\"/>", x, top, width, y - top);
    bars += fmt::format("<rect class=\"bar\" x=\"{}\" width=\"{}\" height=\"6\"><title>{}</title></rect>", x, width,
                        escape_html(title_of(bar, end_ps)));
  }
  out += fmt::format("<svg class=\"row both\" y=\"{}\" height=\"6\" overflow=\"visible\">{}</svg>", y, bars);
  y += (spans.empty() ? 0 : 6) + kRowGap;
  return out;
}

// "1, 2, 3", "1, 2, 3, +4"
std::string numbers_text(const std::vector<std::size_t>& numbers) {
  std::string out;
  for (std::size_t i = 0; i < std::min<std::size_t>(numbers.size(), 3); ++i) {
    out += fmt::format("{}{}", i == 0 ? "" : ", ", numbers[i]);
  }
  return numbers.size() > 3 ? out + fmt::format(", +{}", numbers.size() - 3) : out;
}

// Numbered flags under the heading, with a line down through the rows to `bottom`.
std::string draw_hazards(const std::vector<HazardMark>& marks, int y, int bottom, double end_ps) {
  std::string out;
  for (const HazardMark& mark : marks) {
    const std::string numbers = numbers_text(mark.numbers), x = percent(mark.at);
    const bool left = mark.at > 0.9;
    out += fmt::format(
        "<g class=\"hazard\" data-hazard=\"{0}\"><title>Hazard {1}, at {2}</title>"
        "<line x1=\"{3}\" x2=\"{3}\" y1=\"{4}\" y2=\"{5}\"/>"
        "<svg x=\"{3}\" y=\"{4}\" width=\"1\" height=\"12\" overflow=\"visible\"><path d=\"M0 0L6 6L0 12L-6 "
        "6Z\"/></svg>"
        "<text class=\"halo\" x=\"{3}\" y=\"{6}\" dx=\"{7}\" text-anchor=\"{8}\">{1}</text></g>",
        mark.numbers.front(), numbers, time_text(mark.at * end_ps), x, y, bottom, y + 10, left ? -9 : 9,
        left ? "end" : "start");
  }
  return out;
}

// One side: its heading and its rows from `y` downwards; `y` ends below them.
std::string block(const Side& side, const std::vector<Lane>& shown, double end_ps, std::size_t most, int& y) {
  std::string out = fmt::format(
      "<g class=\"side-{3}\"><text class=\"side\" x=\"0\" y=\"{0}\">{1}</text><text class=\"side\" x=\"100%\" "
      "y=\"{0}\" "
      "text-anchor=\"end\">{2}</text>",
      y + 14, side.heading, length_text(side), side.css_class);
  y += kHeadHeight;
  const auto marks = side.hazards != nullptr ? hazard_marks(*side.hazards, end_ps) : std::vector<HazardMark>();
  int flags = y;
  if (!marks.empty()) {
    out += row_label("Hazards", "", "numbered as in the list", y);
    flags = y + kLabelHeight;
    y = flags + 12 + kRowGap;
  }
  int engines = y;
  std::string rows;
  for (const Lane& lane : shown) {
    for (const Row& row : rows_of(side.trace, lane, side.name_streams)) rows += draw_row(side, row, end_ps, most, y);
    if (lane.id == "host") engines = y;
  }
  const int bottom = y - kRowGap;
  out += draw_overlap(side, end_ps, most, engines, y) + rows;  // the shade lies under the bars
  return out + draw_hazards(marks, flags, bottom, end_ps) + "</g>";
}

std::string describe(const Side& side, const std::vector<Lane>& shown) {
  std::string out = fmt::format("{}: {}.", side.heading, length_text(side));
  for (const Lane& lane : shown) {
    out += fmt::format(" {}: {}.", lane.label, use_text(side.trace, {lane, std::string(lane.label), {}}, side.metrics));
  }
  return out;
}

}  // namespace

std::vector<HazardMark> hazard_marks(const std::vector<Hazard>& hazards, double end_ps) {
  std::vector<std::pair<double, std::size_t>> order;
  for (std::size_t i = 0; i < hazards.size(); ++i) {
    if (hazards[i].time_ps && end_ps > 0) order.emplace_back(std::clamp(*hazards[i].time_ps / end_ps, 0.0, 1.0), i + 1);
  }
  std::sort(order.begin(), order.end());
  std::vector<HazardMark> marks;
  for (const auto& [at, number] : order) {
    if (!marks.empty() && at - marks.back().at < kNearHazards) {
      marks.back().numbers.push_back(number);
    } else {
      marks.push_back({at, {number}});
    }
  }
  for (HazardMark& mark : marks) std::sort(mark.numbers.begin(), mark.numbers.end());
  return marks;
}

std::size_t rows_drawn(const Sides& sides) {
  std::size_t rows = 0;
  for (const Trace* trace : {sides.yours, sides.reference}) {
    if (trace == nullptr) continue;
    for (const Lane& lane : used_lanes(sides))
      rows += rows_of(*trace, lane, sides.several_streams()).size() + (lane.id == "host" ? 1 : 0);
    if (!overlaps_of(*trace).empty()) ++rows;
  }
  return rows;
}

std::string timeline(const Sides& sides, const std::string& id, const TimelineOptions& options) {
  const std::vector<Lane> shown = used_lanes(sides);
  const double end_ps = sides.end_ps();
  int y = 2;
  std::string body, description;
  if (sides.yours != nullptr) {
    const Side side{*sides.yours,    "Your submission", "yours",
                    options.metrics, options.hazards,   sides.several_streams()};
    body += block(side, shown, end_ps, options.most_bars_a_row, y);
    description += describe(side, shown);
    y += 6;
  }
  if (sides.reference != nullptr) {
    const Side side{*sides.reference,          "Reference", "reference",
                    options.reference_metrics, nullptr,     sides.several_streams()};
    body += block(side, shown, end_ps, options.most_bars_a_row, y);
    description += (description.empty() ? "" : " ") + describe(side, shown);
  }
  // The grid lies under the bars.
  return picture("chart timeline", id, y + 20, "Timeline of copies and kernels", description,
                 time_axis(time_ticks(end_ps), kHeadHeight, y) + body);
}

}  // namespace labrig::reports::svg
