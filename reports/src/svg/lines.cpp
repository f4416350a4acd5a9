// Curves lie in a nested picture that stretches with the page; marks and texts keep their size.
#include "svg/lines.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "svg/axis.hpp"
#include "text.hpp"
#include "units.hpp"

namespace labrig::reports::svg {
namespace {

constexpr int kTop = 32, kBottom = 220, kMostPoints = 200, kMostMarks = 8, kLabelStep = 14;
constexpr double kWide = 1000;

struct Axes {
  Scale x, y;
};

// At most kMostPoints of a line, evenly; the last one stays.
std::vector<ChartPoint> thinned(const std::vector<ChartPoint>& points, std::size_t most) {
  if (points.size() <= most) return points;
  std::vector<ChartPoint> out;
  for (std::size_t i = 0; i < most; ++i) out.push_back(points[i * (points.size() - 1) / (most - 1)]);
  return out;
}

struct Place {
  double x = 0, y = 0;  // a fraction of the width; pixels
};
std::optional<Place> place_of(const ChartPoint& point, const Axes& axes) {
  if (!point.y) return std::nullopt;
  const auto x = axes.x.at(point.x), y = axes.y.at(*point.y);
  if (!x || !y) return std::nullopt;
  return Place{*x, height_at(*y, kTop, kBottom)};
}

// "M0 20L33 40M…": a gap begins a new piece.
std::string path_of(const std::vector<ChartPoint>& points, const Axes& axes) {
  std::string out;
  bool open = false;
  for (const ChartPoint& point : thinned(points, kMostPoints)) {
    const auto place = place_of(point, axes);
    if (place) out += fmt::format("{}{:.4g} {:.4g}", open ? "L" : "M", place->x * kWide, place->y);
    open = place.has_value();
  }
  return out;
}

std::string value_text(const ChartPoint& point, const Chart& chart) {
  return fmt::format("{} {}: {}", chart.x.label, human(point.x, chart.x.unit),
                     point.y ? human(*point.y, chart.y.unit) : "none");
}

std::string marks_of(const Chart& chart, std::size_t line, const Axes& axes) {
  std::string out;
  for (const ChartPoint& point : thinned(chart.lines[line].points, kMostMarks)) {
    const auto place = place_of(point, axes);
    if (!place) continue;
    out += mark(line_class(chart, line), place->x, place->y, line_shape(chart, line), value_text(point, chart));
  }
  return out;
}

// Gaps are marked at the foot, so that they are seen where the curve only stops.
std::string gaps_of(const Chart& chart, std::size_t line, const Axes& axes) {
  std::string out;
  int drawn = 0;
  for (const ChartPoint& point : chart.lines[line].points) {
    const auto x = axes.x.at(point.x);
    if (place_of(point, axes) || !x || ++drawn > kMostMarks) continue;
    out += mark("gap " + line_class(chart, line), *x, kBottom - 6, 4,
                chart.lines[line].label + ", " + value_text(point, chart));
  }
  return out;
}

// Labels at the ends of the lines, moved apart where they would meet.
std::string labels_of(const Chart& chart, std::size_t lines, const Axes& axes) {
  struct Label {
    double x, y;
    std::size_t line;
  };
  std::vector<Label> labels;
  for (std::size_t i = 0; i < lines; ++i) {
    std::optional<Place> last;
    for (const ChartPoint& point : chart.lines[i].points) {
      if (const auto place = place_of(point, axes)) last = place;
    }
    if (last) labels.push_back({last->x, last->y - 10, i});
  }
  std::sort(labels.begin(), labels.end(), [](const Label& a, const Label& b) { return a.y < b.y; });
  double above = kTop - kLabelStep - 4;
  for (Label& label : labels) label.y = std::max(label.y, above + kLabelStep), above = label.y;
  std::string out;
  for (const Label& label : labels) {
    out += beside("line-label " + line_class(chart, label.line), label.x, label.y,
                  printable(chart.lines[label.line].label, Lines::one, 40));
  }
  return out;
}

Axes axes_of(const Chart& chart, std::size_t lines) {
  std::vector<double> xs, ys;
  for (std::size_t i = 0; i < lines; ++i) {
    for (const ChartPoint& point : chart.lines[i].points) {
      xs.push_back(point.x);
      if (point.y) ys.push_back(*point.y);
    }
  }
  Axes axes{scale_of(xs, chart.x.logarithmic, chart.x.unit), scale_of(ys, chart.y.logarithmic, chart.y.unit)};
  // Along x the data's own ends: a curve fills the width.
  const auto [low, high] = std::minmax_element(xs.begin(), xs.end());
  if (!xs.empty() && *low < *high && (!chart.x.logarithmic || *low > 0)) axes.x.low = *low, axes.x.high = *high;
  return axes;
}

std::string describe(const Chart& chart, std::size_t lines) {
  std::string out = fmt::format("{} against {}.", chart.y.label, chart.x.label);
  for (std::size_t i = 0; i < lines; ++i) {
    const auto& points = chart.lines[i].points;
    if (points.empty()) continue;
    out += fmt::format(" {}: from {} to {}.", chart.lines[i].label, value_text(points.front(), chart),
                       value_text(points.back(), chart));
  }
  return out;
}

}  // namespace

std::string line_class(const Chart& chart, std::size_t line) {
  const std::string& role = chart.lines[line].role;
  if (role == "yours" || role == "reference") return role;
  const auto others = std::count_if(chart.lines.begin(), chart.lines.begin() + static_cast<std::ptrdiff_t>(line),
                                    [](const ChartLine& l) { return l.role != "yours" && l.role != "reference"; });
  return fmt::format("other o{}", others % 4);
}

int line_shape(const Chart& chart, std::size_t line) {
  const std::string name = line_class(chart, line);
  if (name == "yours") return 0;
  return name == "reference" ? 1 : 2 + (name.back() - '0') % 3;
}

std::string line_chart(const Chart& chart, const std::string& id) {
  const std::size_t lines = std::min(chart.lines.size(), kMostLines);
  const Axes axes = axes_of(chart, lines);
  std::string curves, marks;
  for (std::size_t i = lines; i-- > 0;) {  // the student's is mostly first: it lies on top
    curves += fmt::format("<g class=\"line\" data-role=\"{}\"><path class=\"{}\" d=\"{}\"/></g>",
                          line_class(chart, i).substr(0, line_class(chart, i).find(' ')), line_class(chart, i),
                          path_of(chart.lines[i].points, axes));
    marks += marks_of(chart, i, axes) + gaps_of(chart, i, axes);
  }
  const std::string nested = fmt::format(
      "<svg x=\"0\" y=\"0\" width=\"100%\" height=\"{0}\" viewBox=\"0 0 {1} {0}\" "
      "preserveAspectRatio=\"none\">{2}</svg>",
      kBottom, kWide, curves);
  const std::string names = fmt::format(
      "<text class=\"axis\" x=\"2\" y=\"11\">{}</text><text class=\"axis\" x=\"100%\" y=\"{}\" "
      "text-anchor=\"end\">{}</text>",
      escape_html(chart.y.label), kBottom + 30, escape_html(chart.x.label));
  return picture("chart lines", id, kBottom + 36, chart.title, describe(chart, lines),
                 value_axis(axes.y.ticks(), kTop, kBottom) + time_axis(axes.x.ticks(), kTop, kBottom) + nested + marks +
                     labels_of(chart, lines, axes) + names);
}

}  // namespace labrig::reports::svg
