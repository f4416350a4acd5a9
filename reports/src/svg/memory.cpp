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
  std::string out = fmt::format("{}: at most {} allocated, at {}, and {} reserved", who, bytes_text(peaks.allocated),
                                time_text(peaks.at_ps), bytes_text(peaks.reserved));
  return out + (peaks.pinned > 0 ? fmt::format("; {} pinned on the host.", bytes_text(peaks.pinned)) : ".");
}

std::string curves_of(const Sides& sides, double end_ps, double largest) {
  std::string out;
  const bool pinned = has_pinned(sides);
  for (const auto& [trace, whose] : {std::pair{sides.reference, "theirs"}, std::pair{sides.yours, "yours"}}) {
    if (trace == nullptr) continue;
    const auto add = [&](double MemoryPoint::* value, std::string_view name, bool filled) {
      out += curve(*trace, value, fmt::format("{} {}", name, whose), end_ps, largest, filled);
    };
    if (pinned) add(&MemoryPoint::pinned_bytes, "pinned", false);
    add(&MemoryPoint::reserved_bytes, "reserved", false);
    add(&MemoryPoint::allocated_bytes, "allocated", trace == sides.yours);
  }
  return out;
}

// The student's peak is named above its mark, the reference's below.
std::string peak_marks(const Sides& sides, double end_ps, double largest) {
  std::string out;
  for (const auto& [trace, whose] : {std::pair{sides.reference, "reference"}, std::pair{sides.yours, "yours"}}) {
    if (trace == nullptr || trace->memory.empty()) continue;
    const Peaks peaks = peaks_of(*trace);
    const bool yours = trace == sides.yours;
    const double at = std::clamp(peaks.at_ps / end_ps, 0.0, 1.0),
                 y = height_at(peaks.allocated / largest, kTop, kHeight);
    const std::string label = fmt::format("{} {}", yours ? "peak" : "reference's peak", bytes_text(peaks.allocated));
    out += mark(fmt::format("peak {}", whose), at, y, yours ? 0 : 1,
                fmt::format("{} at {}", label, time_text(peaks.at_ps)));
    out += beside(fmt::format("peak-text {}", whose), at, yours ? y - 9 : y > kHeight - 14 ? y - 23 : y + 11, label);
  }
  return out;
}

}  // namespace

Peaks peaks_of(const Trace& trace) {
  Peaks peaks;
  for (const MemoryPoint& point : trace.memory) {
    if (point.allocated_bytes > peaks.allocated) peaks.at_ps = point.time_ps;
    peaks.allocated = std::max(peaks.allocated, point.allocated_bytes);
    peaks.pinned = std::max(peaks.pinned, point.pinned_bytes);
    peaks.reserved = std::max(peaks.reserved, point.reserved_bytes);
  }
  if (trace.peak_ps) peaks.at_ps = *trace.peak_ps;
  return peaks;
}

bool has_pinned(const Sides& sides) {
  return (sides.yours != nullptr && peaks_of(*sides.yours).pinned > 0) ||
         (sides.reference != nullptr && peaks_of(*sides.reference).pinned > 0);
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
    largest = std::max({largest, peaks.allocated, peaks.reserved, peaks.pinned});
    description += describe(who, *trace) + " ";
  }
  largest = std::max(largest * 1.12, 1.0);  // room for the label of a peak

  std::string budget;
  if (budget_bytes) {
    budget = fmt::format(
        "<line class=\"budget\" x1=\"0\" x2=\"100%\" y1=\"{0:.5g}\" y2=\"{0:.5g}\"/>"
        "<text class=\"tick halo\" x=\"100%\" y=\"{0:.5g}\" dy=\"-3\" text-anchor=\"end\">budget {1}</text>",
        height_at(*budget_bytes / largest, kTop, kHeight), bytes_text(*budget_bytes));
  }
  const std::string nested = fmt::format(
      "<svg x=\"0\" y=\"0\" width=\"100%\" height=\"{0}\" viewBox=\"0 0 {1} {0}\" "
      "preserveAspectRatio=\"none\">{2}</svg>",
      kHeight, kWide, curves_of(sides, end_ps, largest));
  return picture("chart memory", id, kHeight + 20, "Memory over time", description,
                 time_axis(time_ticks(end_ps), kTop, kHeight) + value_axis(byte_ticks(largest), kTop, kHeight) +
                     nested + budget + peak_marks(sides, end_ps, largest));
}

}  // namespace labrig::reports::svg
