// |        Metric         | Cur Usage  | Peak Usage | Tot Alloc  | Tot Freed  |
// | Allocated memory      |    512 B   |  22528 KiB |  79879 KiB |  79879 KiB |
//
// A column of a block has one unit: that of its first row, so that the pools can be compared with their sum.
#include "memory/summary.hpp"

#include <array>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <span>

namespace labrig {
namespace {

constexpr int kWidth = 75;

// `unit` steps up while `scale` has `enough` of it.
std::string in_units(std::int64_t value, std::int64_t scale, std::int64_t enough, std::int64_t step,
                     std::span<const char* const> units, const char* format) {
  double left = static_cast<double>(scale);
  const char* unit = units[0];
  for (const char* larger : units.subspan(1)) {
    if (left < static_cast<double>(enough)) break;
    unit = larger;
    value = value >= 0 ? value / step : -((-value + step - 1) / step);  // rounds down, as Python does
    left /= static_cast<double>(step);
  }
  char text[48];
  std::snprintf(text, sizeof text, format, static_cast<long long>(value), unit);
  return text;
}

std::string size_text(std::int64_t bytes, std::int64_t scale) {
  static constexpr const char* kUnits[] = {"B  ", "KiB", "MiB", "GiB", "TiB", "PiB"};
  return in_units(bytes, scale, 768 * 1024, 1024, kUnits, "%6lld %s");
}

std::string count_text(std::int64_t count, std::int64_t scale) {
  static constexpr const char* kUnits[] = {" ", "K", "M"};
  return in_units(count, scale, 750 * 1000, 1000, kUnits, "%7lld %s ");
}

using Format = std::string (*)(std::int64_t value, std::int64_t scale);

std::string row(const char* name, const Statistic& values, const Statistic& scale, Format format) {
  char text[160];
  std::snprintf(text, sizeof text, " %-21s | %s | %s | %s | %s ", name, format(values.current, scale.current).c_str(),
                format(values.peak, scale.peak).c_str(), format(values.allocated, scale.allocated).c_str(),
                format(values.freed, scale.freed).c_str());
  return text;
}

struct Metric {
  const char* name;
  PoolStatistic AllocatorStatistics::* member;
  Format format;
};
constexpr Metric kMetrics[] = {
    {"Allocated memory", &AllocatorStatistics::allocated_bytes, size_text},
    {"Active memory", &AllocatorStatistics::active_bytes, size_text},
    {"Requested memory", &AllocatorStatistics::requested_bytes, size_text},
    {"GPU reserved memory", &AllocatorStatistics::reserved_bytes, size_text},
    {"Non-releasable memory", &AllocatorStatistics::inactive_split_bytes, size_text},
    {"Allocations", &AllocatorStatistics::allocation, count_text},
    {"Active allocs", &AllocatorStatistics::active, count_text},
    {"GPU reserved segments", &AllocatorStatistics::segment, count_text},
    {"Non-releasable allocs", &AllocatorStatistics::inactive_split, count_text},
};

}  // namespace

std::string summary_of(const AllocatorStatistics& statistics, int device_index, bool abbreviated) {
  std::string text;
  const auto line = [&](const std::string& content) { text += "|" + content + "|\n"; };
  const auto rule = [&](char c) { line(std::string(kWidth, c)); };
  char heading[160];
  rule('=');
  std::snprintf(heading, sizeof heading, "%18sPyTorch CUDA memory summary, device ID %-17d ", "", device_index);
  line(heading);
  rule('-');
  std::snprintf(heading, sizeof heading, "%12sCUDA OOMs: %-12lld |%8scudaMalloc retries: %-8lld  ", "",
                static_cast<long long>(statistics.num_ooms), "", static_cast<long long>(statistics.num_alloc_retries));
  line(heading);
  rule('=');
  line("        Metric         | Cur Usage  | Peak Usage | Tot Alloc  | Tot Freed  ");
  for (const Metric& metric : kMetrics) {
    const PoolStatistic& values = statistics.*metric.member;
    rule('-');
    line(row(metric.name, values.all(), values.all(), metric.format));
    if (abbreviated) continue;
    line(row("      from large pool", values.large(), values.all(), metric.format));
    line(row("      from small pool", values.small(), values.all(), metric.format));
  }
  rule('-');
  line(row("Oversize allocations", statistics.oversize_allocations, statistics.oversize_allocations, count_text));
  rule('-');
  line(row("Oversize GPU segments", statistics.oversize_segments, statistics.oversize_segments, count_text));
  rule('=');
  return text;
}

std::string nested_json(const AllocatorStatistics& statistics) {
  nlohmann::json nested = nlohmann::json::object();
  for (const auto& [key, value] : statistics.flatten()) {
    std::string path = "/" + key;
    for (char& c : path) c = c == '.' ? '/' : c;
    nested[nlohmann::json::json_pointer(path)] = value;
  }
  return nested.dump(2);
}

}  // namespace labrig
