// What a report keeps of a card's trace: a picture of the whole call in few bars and steps, not its first microseconds
// in many.
#pragma once

#include <span>
#include <vector>

#include "backends/sim/machine.hpp"

namespace labrig::supervisor {

// Neighbours of one lane, stream and cause of waiting become one bar where the gap between them is too small to be seen
// in a picture of the whole; which gap that is grows until `most` bars are left. "34 x relu", "matmul, relu, … (34)".
// Sorted by start. More than `most` only where even that does not help.
std::vector<sim::Span> merged_bars(std::span<const sim::Span> bars, std::size_t most);

// Of each stretch of equal length in time the highest step and the last stay, so that peaks and the end are where they
// were: at most `most`.
std::vector<sim::MemoryPoint> thinned_steps(std::span<const sim::MemoryPoint> curve, std::size_t most);

}  // namespace labrig::supervisor
