// What goes into the ledger and what comes out: the accesses of an operation, and the ranges on which it conflicts with
// earlier ones. Read next: ledger.hpp (who makes them), findings.hpp (who words them).
#pragma once

#include <cstddef>
#include <cstdint>

#include "card/order.hpp"
#include "card/shadow.hpp"
#include "machine.hpp"

namespace labrig::sim {

// A range of bytes that an operation reads or writes.
struct MemoryAccess {
  std::size_t space = 0;  // the card's number; the pinned arena comes after the last card
  std::uint64_t start = 0, bytes = 0;
  bool write = false;
  bool possible = false;  // these are only the outer bounds of what it touches
  std::uint32_t buffer = 0;
  std::uint64_t block = 0, block_start = 0;  // the announced block; 0: none
};

// A submitted operation.
struct Operation {
  StreamIndex stream = 0;
  std::uint64_t sequence = 0;  // in its stream
  std::uint64_t number = 0;    // in the order of submission
};

// One range on which a new operation conflicts with an earlier one.
struct Conflict {
  Hazard::Kind kind{};
  bool possible = false;
  bool other_block = false;  // the memory was handed out again in between
  Operation earlier;
  std::size_t space = 0;
  std::uint64_t start = 0, bytes = 0;
  std::size_t access = 0;  // of the new operation, by its position
  Entry entry;             // of the earlier operation
};

}  // namespace labrig::sim
