// What a program computes when its commands are carried out one after another, as submitted: the right values of every
// program without a race, and of every program in eager mode. An undefined byte is NaN.
#pragma once

#include <vector>

#include "order.hpp"
#include "program.hpp"

namespace labrig::sim::programs {

struct Value {
  float value = 0;
  bool doubtful = false;  // comes from units that an unordered pair touched: anything may stand there
};

// What the host sees: each host read and download in order, then the whole arena, then every block that is live
// at the end.
std::vector<Value> sequential_values(const Program& program, const std::vector<Pair>& unordered);

// An operation reads bytes of a card that nothing has written since their block was announced; the final look at the
// live blocks counts.
bool reads_undefined_bytes(const Program& program);

// The first values of the arena: what the host writes there before the program starts.
inline float arena_start(int unit) { return static_cast<float>(100 + unit); }

// The live blocks at the end, in order of their allocation.
std::vector<Range> live_at_the_end(const Program& program);

}  // namespace labrig::sim::programs
