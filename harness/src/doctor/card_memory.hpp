// Who holds the memory of a card: the driver, this process, others (F31).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "doctor/check.hpp"
#include "doctor/nvml.hpp"

namespace labrig::doctor {

struct MemoryFacts {
  std::string device;                             // "cuda:0"
  std::uint64_t free_bytes = 0, total_bytes = 0;  // as CUDA says, while this process uses the card
  std::uint64_t self = 0;                         // the number of this process
  std::optional<NvmlCard> before, after;          // what NVML said before this process used the card, and since
};

struct HeldMemory {
  std::uint64_t driver_bytes = 0;
  std::optional<std::uint64_t> this_bytes, other_bytes;
  std::string method = "unknown";    // process-list, before-and-after, unknown
  std::vector<CardProcess> others;   // those that can be seen
  bool others_are_complete = false;  // they hold all of `other_bytes`
};

// By the driver's list where this process is in it; else (as in containers) by what was used before and since.
HeldMemory held_memory(const MemoryFacts& facts);

// The check `card-memory` over all cards.
Check card_memory(const std::vector<MemoryFacts>& cards);

}  // namespace labrig::doctor
