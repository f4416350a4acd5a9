// What the host sees in late mode, races and all (S6.6-13): an effect is carried out when the host is ordered after it,
// and bytes that two unordered operations fight for are poison. An independent second card, unit by unit.
#pragma once

#include <vector>

#include "order.hpp"
#include "program.hpp"
#include "sequential.hpp"

namespace labrig::sim::programs {

// As sequential_values; poison is NaN. The worker's half, which poisons the landing place of a download, takes no part.
std::vector<Value> late_values(const Program& program, const std::vector<Pair>& unordered,
                               const std::vector<bool>& answers);

}  // namespace labrig::sim::programs
