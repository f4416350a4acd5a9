// A random program over the public interface of labrig: tensors of all sizes go up and down, are computed with, viewed,
// pinned and freed, on one or two streams. The same seed gives the same program.
#pragma once

#include <cstdint>

namespace labrig::sim {

// The sum of everything that the program read back. `jitter`: sleep now and then, which must not change anything.
double run_random_program(std::uint32_t seed, bool jitter);

}  // namespace labrig::sim
