// A program on the card itself, without a ring: records go to the server one by one.
#pragma once

#include <string>
#include <vector>

#include "machine.hpp"
#include "program.hpp"

namespace labrig::sim::programs {

struct Run {
  std::vector<float> seen;    // as sequential_values counts them; an undefined byte is NaN
  std::vector<bool> answers;  // of the queries
  Report report;
};

Run run_on_card(const Program& program, Mode mode, bool data = true);

// How command `index` is named in the run: contained in what the card says about it.
std::string tag_of(std::size_t index);

}  // namespace labrig::sim::programs
