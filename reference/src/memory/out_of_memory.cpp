// The words of the out-of-memory error.
#include "memory/out_of_memory.hpp"

#include <cstdio>

namespace labrig {
namespace {

std::string torch_text(const OutOfMemory& facts) {
  std::string text = "CUDA out of memory. Tried to allocate " + format_bytes(facts.segment_bytes) + ". GPU " +
                     std::to_string(facts.device_index) + " has a total capacity of " +
                     format_bytes(facts.card.total_bytes) + " of which " + format_bytes(facts.card.free_bytes) +
                     " is free. Including non-PyTorch memory, this process has " + format_bytes(facts.reserved_bytes) +
                     " memory in use. ";
  if (facts.limit_bytes) text += format_bytes(*facts.limit_bytes) + " allowed; ";
  return text + "Of the allocated memory " + format_bytes(facts.allocated_bytes) + " is allocated by PyTorch, and " +
         format_bytes(facts.reserved_bytes - facts.allocated_bytes) +
         " is reserved by PyTorch but unallocated. If reserved but unallocated memory is large try setting "
         "PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True to avoid fragmentation.  See documentation for Memory "
         "Management  (https://docs.pytorch.org/docs/stable/notes/cuda.html#optimizing-memory-usage-with-pytorch-cuda-"
         "alloc-conf)";
}

// Memory of the card that this allocator does not hold.
std::size_t held_by_others(const OutOfMemory& facts) {
  const std::size_t ours_and_free = facts.reserved_bytes + facts.card.free_bytes;
  return facts.card.total_bytes > ours_and_free ? facts.card.total_bytes - ours_and_free : 0;
}

std::string why(const OutOfMemory& facts) {
  std::string text = "a tensor of " + format_bytes(facts.requested_bytes) + " was requested on " + facts.device_name +
                     "; it needs a block of " + format_bytes(facts.rounded_bytes) +
                     ", for which the driver was asked for a segment of " + format_bytes(facts.segment_bytes) +
                     "; tensors hold " + format_bytes(facts.allocated_bytes) +
                     ", and the largest free block in the cache has " + format_bytes(facts.largest_free_block);
  if (const std::size_t others = held_by_others(facts)) {
    text += "; " + format_bytes(others) + " of the card are used outside this allocator";
  }
  return text;
}

std::string fix(const OutOfMemory& facts) {
  const std::size_t cached = facts.reserved_bytes - facts.allocated_bytes;
  if (facts.segment_bytes > facts.limit_bytes.value_or(facts.card.total_bytes)) {
    return "this can never fit: look for a wrong shape, or process the data in parts";
  }
  if (cached >= facts.segment_bytes) {
    return "the cache is fragmented: free the small tensors that keep its segments split, or allocate the large "
           "tensors "
           "first";
  }
  if (held_by_others(facts) > facts.reserved_bytes) {
    return "most of the card belongs to others: wait for them, choose another card, or make the work smaller";
  }
  return "let go of tensors that are no longer needed before this line, or make the batch smaller";
}

}  // namespace

std::string format_bytes(std::size_t bytes) {
  if (bytes <= 1024) return std::to_string(bytes) + " bytes";
  double amount = static_cast<double>(bytes) / 1024;
  const char* unit = "KiB";
  for (const char* larger : {"MiB", "GiB"}) {
    if (amount <= 1024) break;
    amount /= 1024;
    unit = larger;
  }
  char text[40];
  std::snprintf(text, sizeof text, "%.2f %s", amount, unit);
  return text;
}

Error out_of_memory(const OutOfMemory& facts) {
  return Error("out-of-memory", torch_text(facts), why(facts), fix(facts));
}

}  // namespace labrig
