// The out-of-memory error: PyTorch's text, so that it can be searched for, and beside it what that text leaves out: how
// a request grew into the size that the driver refused, and which kind of shortage this is.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "labrig/error.hpp"
#include "labrig/memory.hpp"

namespace labrig {

struct OutOfMemory {
  std::string device_name;  // "sim:0"
  int device_index = 0;
  std::size_t requested_bytes = 0;  // by the tensor
  std::size_t rounded_bytes = 0;    // the block for it
  std::size_t segment_bytes = 0;    // what the driver was asked for
  MemoryInfo card;
  std::optional<std::size_t> limit_bytes;
  std::size_t allocated_bytes = 0, reserved_bytes = 0;
  std::size_t largest_free_block = 0;  // in the cache
};

Error out_of_memory(const OutOfMemory& facts);

// PyTorch's way to print a size: two decimals, and a unit changes only above 1024 of the one before.
LABRIG_API std::string format_bytes(std::size_t bytes);

}  // namespace labrig
