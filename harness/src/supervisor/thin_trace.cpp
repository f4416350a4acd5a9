#include "supervisor/thin_trace.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>

namespace labrig::supervisor {

namespace {

using Row = std::tuple<sim::Span::Lane, std::uint16_t, std::uint16_t, sim::Span::Wait>;

// A bar in the making.
struct Run {
  sim::Span bar;
  std::string second;  // name that is not the first's
  bool has_more = false;
  std::size_t count = 1;

  void add(const sim::Span& next) {
    bar.end_ps = std::max(bar.end_ps, next.end_ps);
    bar.bytes += next.bytes;
    ++count;
    if (next.name == bar.name || next.name == second) return;
    has_more = !second.empty();
    if (second.empty()) second = next.name;
  }
  sim::Span done() && {
    if (count > 1 && second.empty()) bar.name = fmt::format("{} x {}", count, bar.name);
    if (!second.empty()) bar.name = fmt::format("{}, {}{} ({})", bar.name, second, has_more ? ", …" : "", count);
    return std::move(bar);
  }
};

std::vector<sim::Span> merged_over(std::span<const sim::Span> bars, std::int64_t gap_ps) {
  std::vector<Run> runs;
  std::map<Row, std::size_t> last;
  for (const sim::Span& bar : bars) {
    const auto [found, is_new] = last.try_emplace({bar.lane, bar.device, bar.stream, bar.wait}, runs.size());
    // A marker has no length and stays.
    if (!is_new && bar.end_ps > bar.start_ps && bar.start_ps - runs[found->second].bar.end_ps <= gap_ps) {
      runs[found->second].add(bar);
      continue;
    }
    found->second = runs.size();
    runs.push_back({bar, {}});
  }
  std::vector<sim::Span> merged;
  for (Run& run : runs) merged.push_back(std::move(run).done());
  return merged;
}

}  // namespace

std::vector<sim::Span> merged_bars(std::span<const sim::Span> bars, std::size_t most) {
  std::vector<sim::Span> merged(bars.begin(), bars.end());
  if (bars.size() <= most) return merged;
  std::int64_t end = 0;
  for (const sim::Span& bar : bars) end = std::max(end, bar.end_ps);
  const std::int64_t whole = end - bars.front().start_ps;
  // From a quarter of a pixel in a thousand to a hundredth of the picture.
  for (std::int64_t gap = whole / 4096; gap <= whole / 100 && merged.size() > most; gap = 2 * gap + 1)
    merged = merged_over(bars, gap);
  return merged;
}

std::vector<sim::MemoryPoint> thinned_steps(std::span<const sim::MemoryPoint> curve, std::size_t most) {
  if (curve.size() <= most) return {curve.begin(), curve.end()};
  const auto height = [](const sim::MemoryPoint& step) {
    return std::tuple(step.allocated_bytes, step.reserved_bytes, step.pinned_bytes);
  };
  const std::int64_t start = curve.front().time_ps, whole = curve.back().time_ps - start + 1;
  const std::int64_t length = whole / static_cast<std::int64_t>(most / 2) + 1;
  std::vector<sim::MemoryPoint> kept;
  for (std::size_t i = 0; i < curve.size();) {
    const std::int64_t stretch = (curve[i].time_ps - start) / length;
    std::size_t highest = i, end = i;
    for (; end < curve.size() && (curve[end].time_ps - start) / length == stretch; ++end)
      if (height(curve[end]) > height(curve[highest])) highest = end;
    kept.push_back(curve[highest]);
    if (highest != end - 1) kept.push_back(curve[end - 1]);
    i = end;
  }
  return kept;
}

}  // namespace labrig::supervisor
