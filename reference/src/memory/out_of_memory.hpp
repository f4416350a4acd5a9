// The out-of-memory error's words: PyTorch's text, so that it can be searched for, and beside it what that text leaves
// out: how a request grew into the size that the driver refused, and which kind of shortage this is. The numbers are in
// labrig/memory.hpp.
#pragma once

#include <cstddef>
#include <string>

#include "labrig/memory.hpp"

namespace labrig {

LABRIG_API OutOfMemoryVerdict verdict_of(const OutOfMemory& facts);

// PyTorch's way to print a size: two decimals, and a unit changes only above 1024 of the one before.
LABRIG_API std::string format_bytes(std::size_t bytes);

}  // namespace labrig
