// The bands of a ratio to the reference (docs/architecture.md, section 6), in one place: grading takes the share from
// them, and the pictures draw their edges.
#pragma once

#include <array>

namespace labrig::reports {

struct Band {
  double up_to;  // this ratio included
  double share;
};
inline constexpr std::array<Band, 5> kRatioBands = {{{1.15, 1}, {1.5, 0.75}, {2, 0.5}, {3, 0.25}, {5, 0.1}}};

// The share of a ratio (above 1 is worse); 0 beyond the last band.
constexpr double ratio_share(double ratio) {
  for (const Band& band : kRatioBands)
    if (ratio <= band.up_to) return band.share;
  return 0;
}

}  // namespace labrig::reports
