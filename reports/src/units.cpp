// Three significant digits everywhere, so that columns of one table have one precision.
#include "units.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace labrig::reports {
namespace {

// 1.23, 12.3, 123
std::string three_digits(double value) {
  const double size = std::abs(value);
  const int digits = size < 9.995 ? 2 : size < 99.95 ? 1 : 0;
  return fmt::format("{:.{}f}", value, digits);
}

template <std::size_t N>
std::string scaled(double value, double step, const std::array<std::string_view, N>& units) {
  std::size_t i = 0;
  while (i + 1 < N && std::abs(value) >= step * 0.9995) value /= step, ++i;
  if (i == 0 && value == std::floor(value)) return fmt::format("{:.0f} {}", value, units[0]);
  return fmt::format("{} {}", three_digits(value), units[i]);
}

std::string grouped(double value) {
  const std::string digits = fmt::format("{:.0f}", std::abs(value));
  std::string out = value < 0 ? "-" : "";
  for (std::size_t i = 0; i < digits.size(); ++i) {
    if (i > 0 && (digits.size() - i) % 3 == 0) out += ',';
    out += digits[i];
  }
  return out;
}

std::string without_zeros(std::string text) {
  if (text.find('.') == std::string::npos) return text;
  text.erase(text.find_last_not_of('0') + 1);
  if (text.back() == '.') text.pop_back();
  return text;
}

bool ends_with(std::string_view text, std::string_view end) {
  return text.size() >= end.size() && text.substr(text.size() - end.size()) == end;
}

}  // namespace

std::string bytes_text(double bytes) { return scaled<5>(bytes, 1024, {"B", "KiB", "MiB", "GiB", "TiB"}); }

std::string time_text(double picoseconds) {
  if (picoseconds == 0) return "0";
  return scaled<5>(picoseconds, 1000, {"ps", "ns", "us", "ms", "s"});
}

std::string count_text(double value) {
  if (!std::isfinite(value)) return "∞";
  if (std::abs(value) >= 1e15) return fmt::format("{:.3g}", value);
  if (value == std::floor(value)) return grouped(value);
  if (std::abs(value) < 0.001) return fmt::format("{:.2g}", value);
  return without_zeros(std::abs(value) < 1 ? fmt::format("{:.3f}", value) : three_digits(value));
}

std::string points_text(double points) { return without_zeros(fmt::format("{:.1f}", points)); }

std::string ratio_text(double ratio) {
  if (!std::isfinite(ratio)) return "∞";
  return ratio >= 999.5 ? grouped(ratio) + "×" : three_digits(ratio) + "×";
}

std::string percent_text(double share) { return without_zeros(fmt::format("{:.1f}", share * 100)) + " %"; }

std::string human(double value, std::string_view unit) {
  if (!std::isfinite(value)) return "∞";
  if (unit == "bytes") return bytes_text(value);
  if (unit == "ps") return time_text(value);
  if (unit == "flops") return scaled<5>(value, 1000, {"flop", "kflop", "Mflop", "Gflop", "Tflop"});
  return unit.empty() ? count_text(value) : count_text(value) + " " + std::string(unit);
}

std::string exact(double value, std::string_view unit) {
  if (!std::isfinite(value)) return "without end";
  const std::string number =
      value == std::floor(value) && std::abs(value) < 1e15 ? grouped(value) : fmt::format("{}", value);
  return unit.empty() ? number : number + " " + std::string(unit);
}

const std::vector<MetricInfo>& known_metrics() {
  static const std::vector<MetricInfo> metrics = {
      {"time_ps", "time", "ps"},
      {"h2d_bytes", "bytes up", "bytes"},
      {"h2d_copies", "copies up", ""},
      {"h2d_non_blocking_bytes", "bytes up, asked not to block", "bytes"},
      {"h2d_async_bytes", "bytes up that did not block", "bytes"},
      {"d2h_bytes", "bytes down", "bytes"},
      {"d2h_copies", "copies down", ""},
      {"launches", "kernels launched", ""},
      {"device_flops", "arithmetic on the card", "flops"},
      {"device_bytes", "device memory that kernels used", "bytes"},
      {"hidden_copies", "hidden copies", ""},
      {"hidden_copy_bytes", "bytes of hidden copies", "bytes"},
      {"syncs_explicit", "waits asked for", ""},
      {"syncs_value", "waits to read a value", ""},
      {"syncs_copy", "waits inside copies", ""},
      {"syncs_implicit", "waits inside the driver", ""},
      {"peak_allocated_bytes", "peak allocated", "bytes"},
      {"peak_reserved_bytes", "peak reserved", "bytes"},
      {"pinned_peak_bytes", "peak pinned", "bytes"},
      {"pinned_taken_peak_bytes", "peak pinned, as taken from the driver", "bytes"},
      {"other_cards_peak_bytes", "peak allocated on other cards", "bytes"},
      {"hazards", "hazards", ""},
      {"overlap", "copying while computing", "ps"},
      {"loop_full_stops", "full stops in the loop", ""},
      {"loop_pinned_tensors", "pinned tensors made in the loop", ""},
      {"loop_ps", "time from the start of the loop", "ps"},
  };
  return metrics;
}

MetricInfo metric_info(std::string_view name) {
  const auto& known = known_metrics();
  const auto found = std::find_if(known.begin(), known.end(), [&](const MetricInfo& m) { return m.name == name; });
  if (found != known.end()) return *found;
  MetricInfo info{std::string(name), std::string(name), ""};
  for (const auto& [end, unit] :
       {std::pair<std::string_view, std::string_view>{"_bytes", "bytes"}, {"_ps", "ps"}, {"_flops", "flops"}}) {
    if (!ends_with(name, end)) continue;
    info.unit = unit;
    info.label.resize(name.size() - end.size());
  }
  std::replace(info.label.begin(), info.label.end(), '_', ' ');
  return info;
}

}  // namespace labrig::reports
