// Random programs: a seed gives one program, the same everywhere.
#pragma once

#include "program.hpp"

namespace labrig::sim::programs {

// At most 40 commands besides the first blocks; four streams on two cards. Every tenth program or so has units that
// make its copies larger than 64 KiB, some have units of one byte, a third have blocking streams, a quarter throttles.
Program random_program(std::uint64_t seed);

}  // namespace labrig::sim::programs
