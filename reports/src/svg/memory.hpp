// Memory over time: allocated (held by tensors), reserved (held by the allocator) and, where there is any, pinned (of
// the host, locked for copies); the student's run over the reference's, with the peak of each marked. For scripts:
// svg.memory path.allocated|reserved|pinned.yours|theirs, svg.mark.peak.
#pragma once

#include <optional>
#include <string>

#include "svg/timeline.hpp"

namespace labrig::reports::svg {

// `budget_bytes`: a line that should not be crossed, when the scenario has one.
std::string memory_curve(const Sides& sides, std::optional<double> budget_bytes, const std::string& id);

struct Peaks {
  double allocated = 0, reserved = 0, pinned = 0;
  double at_ps = 0;  // when most was allocated
};
Peaks peaks_of(const Trace& trace);
bool has_memory(const Sides& sides);
bool has_pinned(const Sides& sides);

}  // namespace labrig::reports::svg
