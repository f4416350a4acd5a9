// Layout in pixels downwards, in percent across. A lane is a line of text over a line of bars.
#include "svg/timeline.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "svg/axis.hpp"
#include "text.hpp"
#include "units.hpp"

namespace labrig::reports::svg {
namespace {

constexpr int kBarHeight = 14, kLabelHeight = 15, kLaneGap = 6, kHeadHeight = 22;
constexpr double kWidthOfALetter = 0.0068;  // of a chart on a desktop: 6.5 px of 950
constexpr double kSmallestBar = 0.0015;

std::string title_of(const Bar& bar, double end_ps) {
  const std::string name = bar.name.empty() ? "several operations" : bar.name;
  std::string out = bar.pieces > 1 ? fmt::format("{} × {}", bar.pieces, name) : name;
  if (bar.bytes > 0) out += ", " + bytes_text(bar.bytes);
  out += fmt::format(": {} – {}", time_text(bar.start * end_ps), time_text(bar.end * end_ps));
  if (bar.pieces > 1) out += fmt::format(", busy for {}", time_text(bar.busy_ps));
  return out;
}

std::string draw(const Bar& bar, std::string_view lane, int y, double end_ps) {
  const double width = std::max(bar.end - bar.start, kSmallestBar);
  const std::string x = percent(std::min(bar.start, 1 - kSmallestBar)), w = percent(width);
  const bool joined = bar.pieces > 1;
  std::string out =
      fmt::format("<rect class=\"{}{}\" x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\"><title>{}</title></rect>", lane,
                  joined ? " joined" : "", x, y, w, kBarHeight, escape_html(title_of(bar, end_ps)));
  const std::string label = bar.name.empty() ? "" : joined ? fmt::format("{} × {}", bar.pieces, bar.name) : bar.name;
  if (!label.empty() && width > static_cast<double>(label.size() + 2) * kWidthOfALetter) {
    out += fmt::format(
        "<svg x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\"><text class=\"{}\" x=\"4\" y=\"11\">{}</text></svg>", x, y,
        w, kBarHeight, joined ? "bar-name on-joined" : "bar-name", escape_html(label));
  }
  return out;
}

struct Use {
  std::size_t pieces = 0;
  double bytes = 0, busy = 0;  // busy: fraction of the side's own time
  std::string mostly;          // the operation that takes more than half of the busy time
};
Use use_of(const Trace& trace, std::string_view lane) {
  Use use;
  std::map<std::string_view, double> by_name;
  for (const Span& span : trace.timeline) {
    if (span.lane != lane) continue;
    use.pieces += 1;
    use.bytes += span.bytes;
    use.busy += span.end_ps - span.start_ps;
    by_name[span.name] += span.end_ps - span.start_ps;
  }
  for (const auto& [name, time_ps] : by_name) {
    if (time_ps > use.busy / 2) use.mostly = name;
  }
  if (trace.end_ps > 0) use.busy = std::min(1.0, use.busy / trace.end_ps);
  return use;
}

// Names of students' tensors can be long; the whole name stands in the table.
std::string shortened(const std::string& text) { return text.size() <= 48 ? text : printable(text, Lines::one, 40); }

std::string use_text(const Use& use) {
  if (use.pieces == 0) return "idle";
  std::string out =
      fmt::format("{} {}", count_text(static_cast<double>(use.pieces)), use.pieces == 1 ? "piece" : "pieces");
  if (use.bytes > 0) out += " · " + bytes_text(use.bytes);
  return out + fmt::format(" · busy {:.0f} %", use.busy * 100);
}

// One side: its heading and its lanes from `y` downwards; `y` ends below them.
std::string block(const Trace& trace, std::string_view heading, const std::vector<Lane>& shown, double end_ps,
                  std::size_t most, int& y) {
  std::string out = fmt::format(
      "<text class=\"side\" x=\"0\" y=\"{0}\">{1}</text><text class=\"side\" x=\"100%\" y=\"{0}\" "
      "text-anchor=\"end\">{2}</text>",
      y + 14, heading, time_text(trace.end_ps));
  y += kHeadHeight;
  for (const Lane& lane : shown) {
    const Use use = use_of(trace, lane.id);
    const std::string mostly = use.pieces > 1 && !use.mostly.empty() ? "mostly " + use.mostly : use.mostly;
    out += fmt::format(
        "<text class=\"lane\" x=\"0\" y=\"{0}\">{1}<tspan class=\"mostly\" dx=\"8\">{2}</tspan></text>"
        "<text class=\"use\" x=\"100%\" y=\"{0}\" text-anchor=\"end\">{3}</text>",
        y + 11, lane.label, escape_html(shortened(mostly)), escape_html(use_text(use)));
    y += kLabelHeight;
    out += fmt::format("<rect class=\"track\" x=\"0\" y=\"{}\" width=\"{}\" height=\"{}\"/>", y,
                       percent(trace.end_ps / end_ps), kBarHeight);
    for (const Bar& bar : bars_of(trace, lane.id, end_ps, most)) out += draw(bar, lane.id, y, end_ps);
    y += kBarHeight + kLaneGap;
  }
  return out;
}

std::string describe(std::string_view who, const Trace& trace, const std::vector<Lane>& shown) {
  std::string out = fmt::format("{}: {}.", who, time_text(trace.end_ps));
  for (const Lane& lane : shown) out += fmt::format(" {}: {}.", lane.label, use_text(use_of(trace, lane.id)));
  return out;
}

}  // namespace

double Sides::end_ps() const { return std::max({yours ? yours->end_ps : 0, reference ? reference->end_ps : 0, 1.0}); }

const std::vector<Lane>& lanes() {
  static const std::vector<Lane> all = {
      {"host", "Host"}, {"up", "Upload engine"}, {"compute", "Compute engine"}, {"down", "Download engine"}};
  return all;
}

std::vector<Lane> used_lanes(const Sides& sides) {
  std::vector<Lane> out;
  for (const Lane& lane : lanes()) {
    const auto uses = [&](const Trace* trace) {
      return trace != nullptr && std::any_of(trace->timeline.begin(), trace->timeline.end(),
                                             [&](const Span& span) { return span.lane == lane.id; });
    };
    if (uses(sides.yours) || uses(sides.reference)) out.push_back(lane);
  }
  return out;
}

std::vector<Bar> bars_of(const Trace& trace, std::string_view lane, double end_ps, std::size_t most) {
  std::vector<Bar> bars;
  for (double tiny = 0.004;; tiny *= 2) {
    bars.clear();
    bool open = false;  // the last bar takes short neighbours
    for (const Span& span : trace.timeline) {
      if (span.lane != lane) continue;
      const double start = span.start_ps / end_ps, end = span.end_ps / end_ps;
      const bool small = end - start < tiny;
      if (small && open && start - bars.back().end < tiny) {
        Bar& bar = bars.back();
        bar.end = std::max(bar.end, end);
        bar.busy_ps += span.end_ps - span.start_ps;
        bar.bytes += span.bytes;
        bar.pieces += 1;
        if (bar.name != span.name) bar.name.clear();
      } else {
        bars.push_back({start, end, span.end_ps - span.start_ps, span.bytes, 1, span.name});
      }
      open = small;
    }
    if (bars.size() <= std::max<std::size_t>(most, 1) || tiny > 1) return bars;
  }
}

std::string timeline(const Sides& sides, const std::string& id, std::size_t most_bars_a_lane) {
  const std::vector<Lane> shown = used_lanes(sides);
  const double end_ps = sides.end_ps();
  int y = 2;
  std::string body, description;
  if (sides.yours != nullptr) {
    body += block(*sides.yours, "Your submission", shown, end_ps, most_bars_a_lane, y);
    description += describe("Your submission", *sides.yours, shown);
    y += 6;
  }
  if (sides.reference != nullptr) {
    body += block(*sides.reference, "Reference", shown, end_ps, most_bars_a_lane, y);
    description += ' ';
    description += describe("Reference", *sides.reference, shown);
  }
  // The grid lies under the bars.
  return picture("chart timeline", id, y + 20, "Timeline of copies and kernels", description,
                 time_axis(time_ticks(end_ps), kHeadHeight, y) + body);
}

}  // namespace labrig::reports::svg
