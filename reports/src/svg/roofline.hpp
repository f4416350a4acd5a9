// The two ceilings of a card (field note F2) and where a run lies under them: flops per byte across, flops per second
// upwards, both logarithmic. A full mark is what the kernels reached while the compute engine was busy; the hollow mark
// under it is the whole run, waits and copies included. For scripts: svg.roofline svg.mark.yours|reference.
#pragma once

#include <optional>
#include <string>

#include "model.hpp"

namespace labrig::reports::svg {

struct RoofPoint {
  double intensity = 0;                     // flops per byte
  double kernels_per_s = 0, run_per_s = 0;  // flops per second of busy engine, and of the run
};
// Nothing where a run has no flops, bytes or time.
std::optional<RoofPoint> roof_point(const Numbers& metrics);
// The largest rate that a run of that intensity can have, by memory or by the f32 rate.
double roof_at(const Card& card, double intensity);

// Empty when neither side has a point.
std::string roofline(const Card& card, const Numbers& yours, const Numbers& reference, const std::string& id);

}  // namespace labrig::reports::svg
