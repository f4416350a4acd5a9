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

// What is wrong with the card's answers to this program, eager and late, in sentences; empty when they agree with the
// model.
std::string disagreement(const Program& program);

}  // namespace labrig::sim::programs
