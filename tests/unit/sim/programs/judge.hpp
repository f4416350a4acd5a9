// Compares a run with the model, and cuts a program down to the commands that a disagreement needs.
#pragma once

#include <functional>
#include <string>

#include "program.hpp"

namespace labrig::sim::programs {

// What is wrong with the card's answers to this program, in sentences; empty when they agree with the model.
std::string disagreement(const Program& program);

// The smallest program that the function still complains about and that can be had by dropping commands.
Program shrunk(const Program& program, const std::function<std::string(const Program&)>& complaint);

}  // namespace labrig::sim::programs
