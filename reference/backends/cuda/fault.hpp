// The note that a kernel leaves when it finds an index outside its dimension, and where it is left. The note lies in
// pinned host memory, because nothing can be fetched from a card whose context has died.
#pragma once

#include <cstdint>

namespace labrig::cuda {

struct FaultNote {
  std::uint64_t launch = 0;              // number of the launch (launch_log.hpp)
  std::int64_t position = 0, value = 0;  // index number `position` (row-major) has this value
  std::int64_t lowest = 0, size = 0;     // allowed is what is not below the first and below the second
  std::int32_t operand = 0;              // of the kernel: the tensor of indices
  std::int32_t written = 0;
};

// What a launch gives to a kernel that checks indices.
struct FaultSite {
  FaultNote* note = nullptr;      // as the card sees it
  unsigned int* taken = nullptr;  // on the card: not 0 once a thread writes the note
  std::uint64_t launch = 0;
};

}  // namespace labrig::cuda
