// Numbers for people: 1.5 MiB, 2.41 ms, 1,234; and the exact value, for titles. Also what each metric is called.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace labrig::reports {

std::string bytes_text(double bytes);       // "1.50 MiB"
std::string time_text(double picoseconds);  // "2.41 ms"
std::string count_text(double value);       // "1,234", "0.25"
std::string points_text(double points);     // "67.5", "60"
std::string ratio_text(double ratio);       // "2.3×"; "∞" when it has no end
std::string percent_text(double share);     // 0.75: "75 %"

// By unit: "bytes", "ps", "" (a count), or another word that is printed after the number.
std::string human(double value, std::string_view unit);
// The same without rounding: "1,572,864 bytes".
std::string exact(double value, std::string_view unit);

struct MetricInfo {
  std::string name, label, unit;
};
// Known metrics in the order of a report.
const std::vector<MetricInfo>& known_metrics();
// Also for names that are not known: the unit by the end of the name (_bytes, _ps), the label from its words.
MetricInfo metric_info(std::string_view name);

}  // namespace labrig::reports
