// What a row of readings does: its middle, and whether it rises. Ranks, not sums, so that one outlier decides nothing.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

namespace labrig::triage {

inline double median(std::vector<double> values) {
  if (values.empty()) return 0;
  std::sort(values.begin(), values.end());
  const std::size_t half = values.size() / 2;
  return values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
}

// Kendall's rank correlation with time, -1 to 1: pairs that rise less pairs that fall. At most 1,000 readings are
// looked at, evenly taken.
inline double trend(const std::vector<double>& values) {
  const std::size_t stride = values.size() / 1000 + 1;
  double rising = 0, pairs = 0;
  for (std::size_t i = 0; i < values.size(); i += stride)
    for (std::size_t j = i + stride; j < values.size(); j += stride) {
      rising += values[j] > values[i] ? 1 : values[j] < values[i] ? -1 : 0;
      pairs += 1;
    }
  return pairs > 0 ? rising / pairs : 0;
}

// The medians of the first and the last third.
struct Ends {
  double first = 0, last = 0;
};
inline Ends ends(const std::vector<double>& values) {
  const auto third = static_cast<std::ptrdiff_t>(std::max<std::size_t>(1, values.size() / 3));
  if (values.empty()) return {};
  return {median({values.begin(), values.begin() + third}), median({values.end() - third, values.end()})};
}

// Steadily upwards, by a twentieth and more in all.
inline bool rises(const std::vector<double>& values) {
  if (values.size() < 4) return false;
  const Ends e = ends(values);
  return trend(values) >= 0.7 && e.last > 1.05 * e.first;
}

}  // namespace labrig::triage
