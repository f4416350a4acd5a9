// What is known of a request for memory that was refused: from a message, a snapshot or a history. Everything may be
// missing, as messages arrive cut. Read next: message.hpp (reading them from a text), shortage_rules.cpp (the
// decision).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "labrig/triage.hpp"
#include "triage/amount.hpp"

namespace labrig::triage {

struct ListedProcess {
  std::string pid;
  std::optional<Amount> bytes;  // none: the driver does not tell
};

struct Shortage {
  std::string backend = "CUDA";  // "HIP", "XPU", "NPU", "MPS"
  std::optional<int> device;
  // `requested`: what the driver was asked for. `reserved`: allocated and unallocated together. `this_process`: with
  // what is not PyTorch's. `allowed`: the limit of this process. `one_block`: the largest block that the platform
  // gives.
  std::optional<Amount> requested, total, free, allocated, reserved, unallocated, this_process, allowed, private_pools,
      other_allocations, one_block;
  std::vector<ListedProcess> processes;
  std::optional<std::int64_t> ooms, retries;  // of a memory summary beside the message
  bool no_limit = false;                      // the text says that no limit is set
};

// Derives what follows from the rest: reserved from allocated and unallocated, and the other way round.
void complete(Shortage& shortage);
// The cause, its evidence, and what to do: the rules of shortage_rules.cpp in their order.
Diagnosis diagnose(Shortage shortage);

}  // namespace labrig::triage
