// Device memory over time: allocated (held by tensors) and reserved (held by the allocator), the student's run over the
// reference's.
#pragma once

#include <optional>
#include <string>

#include "svg/timeline.hpp"

namespace labrig::reports::svg {

// `budget_bytes`: a line that should not be crossed, when the scenario has one.
std::string memory_curve(const Sides& sides, std::optional<double> budget_bytes, const std::string& id);

struct Peaks {
  double allocated = 0, reserved = 0;
};
Peaks peaks_of(const Trace& trace);
bool has_memory(const Sides& sides);

}  // namespace labrig::reports::svg
