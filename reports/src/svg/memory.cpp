// Step curves: a value holds until the next point. Long recordings are thinned to one column of pixels each, keeping
// the largest value of a column, so that no peak is lost.
#include "svg/memory.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "svg/axis.hpp"
#include "text.hpp"
#include "units.hpp"

namespace labrig::reports::svg {
namespace {

constexpr int kHeight = 150, kTop = 16, kColumns = 240;
constexpr double kWide = 1000;  // units of the nested, stretched picture

struct Step {
  double x = 0, bytes = 0;
};

std::vector<Step> steps_of(const Trace& trace, double MemoryPoint::* value, double end_ps) {
  std::vector<Step> steps;
  double last_column = -1;
  for (const MemoryPoint& point : trace.memory) {
    const double column = std::floor(point.time_ps / end_ps * kColumns);
    const double bytes = point.*value;
    if (column == last_column) {
      steps.back().bytes = std::max(steps.back().bytes, bytes);
      continue;
    }
    last_column = column;
    if (!steps.empty() && steps.back().bytes == bytes) continue;
    steps.push_back({column / kColumns * kWide, bytes});
  }
  // What a column's largest value hid: where the curve ends.
  if (!trace.memory.empty() && !steps.empty()) {
    const double end = trace.end_ps / end_ps * kWide;
    if (trace.memory.back().*value != steps.back().bytes) steps.push_back({end, trace.memory.back().*value});
  }
  return steps;
}

// "M0 150V20H33V…"; closed down to the axis when `area`.
std::string path_of(const std::vector<Step>& steps, double end_x, double largest, bool area) {
  if (steps.empty()) return {};
  const auto y = [&](double bytes) { return kTop + (1 - bytes / largest) * (kHeight - kTop); };
  std::string out = fmt::format("M{:.4g} {}", steps.front().x, kHeight);
  for (const Step& step : steps) out += fmt::format("H{:.4g}V{:.4g}", step.x, y(step.bytes));
  out += fmt::format("H{:.4g}", end_x);
  return area ? out + fmt::format("V{}Z", kHeight) : out;
}

std::string curve(const Trace& trace, double MemoryPoint::* value, std::string_view css_class, double end_ps,
                  double largest, bool filled) {
  const auto steps = steps_of(trace, value, end_ps);
  const double end_x = trace.end_ps / end_ps * kWide;
  std::string out;
  if (filled) out += fmt::format("<path class=\"{} area\" d=\"{}\"/>", css_class, path_of(steps, end_x, largest, true));
  return out + fmt::format("<path class=\"{}\" d=\"{}\"/>", css_class, path_of(steps, end_x, largest, false));
}

std::string describe(std::string_view who, const Trace& trace) {
  const Peaks peaks = peaks_of(trace);
  return fmt::format("{}: at most {} allocated and {} reserved.", who, bytes_text(peaks.allocated),
                     bytes_text(peaks.reserved));
}

}  // namespace

Peaks peaks_of(const Trace& trace) {
  Peaks peaks;
  for (const MemoryPoint& point : trace.memory) {
    peaks.allocated = std::max(peaks.allocated, point.allocated_bytes);
    peaks.reserved = std::max(peaks.reserved, point.reserved_bytes);
  }
  return peaks;
}

bool has_memory(const Sides& sides) {
  return (sides.yours != nullptr && !sides.yours->memory.empty()) ||
         (sides.reference != nullptr && !sides.reference->memory.empty());
}

std::string memory_curve(const Sides& sides, std::optional<double> budget_bytes, const std::string& id) {
  const double end_ps = sides.end_ps();
  double largest = budget_bytes.value_or(0);
  std::string description;
  for (const auto& [trace, who] :
       {std::pair{sides.yours, "Your submission"}, std::pair{sides.reference, "Reference"}}) {
    if (trace == nullptr) continue;
    const Peaks peaks = peaks_of(*trace);
    largest = std::max({largest, peaks.allocated, peaks.reserved});
    description += describe(who, *trace) + " ";
  }
  largest = std::max(largest * 1.04, 1.0);

  std::string grid;
  const auto y = [&](double fraction) { return fmt::format("{:.5g}", kTop + (1 - fraction) * (kHeight - kTop)); };
  std::string labels;
  for (const Tick& tick : byte_ticks(largest)) {
    grid += fmt::format("<line class=\"grid\" x1=\"0\" x2=\"100%\" y1=\"{0}\" y2=\"{0}\"/>", y(tick.at));
    if (tick.at > 0)
      labels += fmt::format("<text class=\"tick halo\" x=\"2\" y=\"{}\" dy=\"-3\">{}</text>", y(tick.at), tick.label);
  }
  std::string curves;
  if (sides.reference != nullptr) {
    curves += curve(*sides.reference, &MemoryPoint::reserved_bytes, "reserved theirs", end_ps, largest, false);
    curves += curve(*sides.reference, &MemoryPoint::allocated_bytes, "allocated theirs", end_ps, largest, false);
  }
  if (sides.yours != nullptr) {
    curves += curve(*sides.yours, &MemoryPoint::reserved_bytes, "reserved yours", end_ps, largest, false);
    curves += curve(*sides.yours, &MemoryPoint::allocated_bytes, "allocated yours", end_ps, largest, true);
  }
  std::string budget;
  if (budget_bytes) {
    budget = fmt::format(
        "<line class=\"budget\" x1=\"0\" x2=\"100%\" y1=\"{0}\" y2=\"{0}\"/>"
        "<text class=\"tick halo\" x=\"100%\" y=\"{0}\" dy=\"-3\" text-anchor=\"end\">budget {1}</text>",
        y(*budget_bytes / largest), bytes_text(*budget_bytes));
  }
  const std::string nested = fmt::format(
      "<svg x=\"0\" y=\"0\" width=\"100%\" height=\"{0}\" viewBox=\"0 0 {1} {0}\" "
      "preserveAspectRatio=\"none\">{2}</svg>",
      kHeight, kWide, curves);
  return picture("chart memory", id, kHeight + 20, "Device memory over time", description,
                 time_axis(time_ticks(end_ps), kTop, kHeight) + grid + nested + budget + labels);
}

}  // namespace labrig::reports::svg
