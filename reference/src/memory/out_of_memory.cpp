// The words of the out-of-memory error, and how the kind of shortage is found.
#include "memory/out_of_memory.hpp"

#include <algorithm>
#include <cstdio>
#include <limits>

namespace labrig {
namespace {

std::string torch_text(const OutOfMemory& facts) {
  std::string text = "CUDA out of memory. Tried to allocate " + format_bytes(facts.segment_bytes) + ". GPU " +
                     std::to_string(facts.device_index) + " has a total capacity of " +
                     format_bytes(facts.card.total_bytes) + " of which " + format_bytes(facts.card.free_bytes) +
                     " is free. ";
  for (const ProcessMemory& process : facts.processes) {
    text += process.is_this ? "Including non-PyTorch memory, this process" : "Process " + std::to_string(process.pid);
    text += " has " + format_bytes(process.bytes) + " memory in use. ";
  }
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

bool can_never_fit(const OutOfMemory& facts) {
  return facts.segment_bytes > std::min(facts.card.total_bytes, facts.limit_bytes.value_or(facts.card.total_bytes));
}

bool is_in_pieces(const OutOfMemory& facts) {
  return facts.reserved_bytes - facts.allocated_bytes >= facts.segment_bytes;
}

std::string why_text(const OutOfMemory& facts, OutOfMemoryVerdict verdict) {
  std::string text = std::string(name_of(verdict)) + ": a tensor of " + format_bytes(facts.requested_bytes) +
                     " was requested on " + facts.device_name + "; it needs a block of " +
                     format_bytes(facts.rounded_bytes) + ", for which the driver was asked for a segment of " +
                     format_bytes(facts.segment_bytes) + "; tensors hold " + format_bytes(facts.allocated_bytes) +
                     ", and the largest free block in the cache has " + format_bytes(facts.largest_free_block_bytes);
  if (const std::size_t others = held_by_others(facts)) {
    text += "; " + format_bytes(others) + " of the card are used outside this allocator";
  }
  return text;
}

std::string fix_text(const OutOfMemory& facts, OutOfMemoryVerdict verdict) {
  const char* const unpick = "free the small tensors that keep its segments split, or allocate the large tensors first";
  switch (verdict) {
    case OutOfMemoryVerdict::overflow:
      return "this is no size at all but a negative number, or a product that overflowed: look for the shape that it "
             "was computed from";
    case OutOfMemoryVerdict::limit:
      if (can_never_fit(facts)) return "this can never fit below the limit: raise it, or process the data in parts";
      if (is_in_pieces(facts)) return std::string("raise the limit, or give the cache whole segments back: ") + unpick;
      return "raise the limit (set_per_process_memory_fraction), or make the work smaller";
    case OutOfMemoryVerdict::refused:
      return "enough of the card is free, so freeing tensors does not help: look for a limit outside this program, and "
             "run `labrig doctor`";
    case OutOfMemoryVerdict::fragmentation:
      return std::string("the cache is fragmented: ") + unpick;
    case OutOfMemoryVerdict::shared:
      return "most of the card belongs to others: wait for them, choose another card, or make the work smaller";
    case OutOfMemoryVerdict::capacity:
      break;
  }
  if (can_never_fit(facts)) return "this can never fit: look for a wrong shape, or process the data in parts";
  return "let go of tensors that are no longer needed before this line, or make the batch smaller";
}

}  // namespace

const char* name_of(OutOfMemoryVerdict verdict) {
  static constexpr const char* kNames[] = {"capacity", "fragmentation", "limit", "shared", "overflow", "refused"};
  return kNames[static_cast<int>(verdict)];
}

// The questions in an order in which each may rely on the ones before it: a limit and free memory come first, because a
// refusal although enough is free is never a matter of pieces.
OutOfMemoryVerdict verdict_of(const OutOfMemory& facts) {
  if (facts.requested_bytes > static_cast<std::size_t>(std::numeric_limits<std::int64_t>::max())) {
    return OutOfMemoryVerdict::overflow;
  }
  const bool beyond_limit = facts.limit_bytes && facts.reserved_bytes + facts.segment_bytes > *facts.limit_bytes;
  if (facts.card.free_bytes >= facts.segment_bytes) {
    return beyond_limit ? OutOfMemoryVerdict::limit : OutOfMemoryVerdict::refused;
  }
  if (can_never_fit(facts)) return OutOfMemoryVerdict::capacity;
  if (is_in_pieces(facts)) return OutOfMemoryVerdict::fragmentation;
  const std::size_t others = held_by_others(facts);
  if (others > facts.reserved_bytes && others + facts.card.free_bytes >= facts.segment_bytes) {
    return OutOfMemoryVerdict::shared;
  }
  return OutOfMemoryVerdict::capacity;
}

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

OutOfMemoryError::OutOfMemoryError(OutOfMemory facts)
    : Error("out-of-memory", torch_text(facts), why_text(facts, verdict_of(facts)), fix_text(facts, verdict_of(facts))),
      facts_(std::make_shared<const OutOfMemory>(std::move(facts))),
      verdict_(verdict_of(*facts_)) {}

OutOfMemoryError::~OutOfMemoryError() = default;

}  // namespace labrig
