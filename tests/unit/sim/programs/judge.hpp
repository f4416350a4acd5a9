// Compares what a run saw with the model, and cuts a program down to the commands that a disagreement needs.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "machine.hpp"
#include "order.hpp"
#include "program.hpp"
#include "sequential.hpp"

namespace labrig::sim::programs {

// How command `index` of a tagged run is named: contained in what the card says about it.
std::string tag_of(std::size_t index);

// What is wrong, in sentences; empty when all is right. `run` names the run. Doubtful values may be anything.
std::string wrong_values(const std::vector<float>& seen, const std::vector<Value>& right, const char* run);
// The reported hazards must be these pairs.
std::string wrong_hazards(const Program& program, const Report& report, const std::vector<Pair>& expected, bool tagged);

// The smallest program that the function still complains about and that can be had by dropping commands.
Program shrunk(const Program& program, const std::function<std::string(const Program&)>& complaint);

}  // namespace labrig::sim::programs
