// A random program in the language of a submission: tensors, streams, events. What the library cannot say (blocking
// streams, throttles, memory of the driver) is left out, and memory is where the caching allocator puts it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "program.hpp"

namespace labrig::sim::programs {

// The part of the program that the library can say.
Program for_the_library(const Program& program);

struct LibraryRun {
  std::vector<float> seen;    // as sequential_values counts them
  std::vector<bool> answers;  // of the queries
  std::vector<int> places;    // of each block, in order: which piece of its card's memory it got
  std::string text() const;   // everything, to compare two runs
};

// Runs it on sim:0 and sim:1 of the machine that is attached.
LibraryRun run_with_library(const Program& program);

// The program with its blocks where the run had them: two blocks that got the same memory overlap.
Program placed(const Program& program, const std::vector<int>& places);

}  // namespace labrig::sim::programs
