// The ordering ledger: finds every two operations that touch the same bytes, of which one writes, and that nothing
// orders. It judges a program by its order alone: not by time, and not by whether the bytes came out right this time.
//
//   server ──operation, its accesses──► Ledger ─┬─ order    vector clocks: is A before B?
//                                               ├─ shadow   one a memory space: who touched these bytes?
//                                               └─ findings groups, counts, texts ──► Report
//
// Read next: order.hpp, shadow.hpp, findings.hpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "card/findings.hpp"
#include "card/order.hpp"
#include "card/shadow.hpp"

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

class Ledger {
 public:
  // `spaces`: the cards and the arena.
  explicit Ledger(std::size_t spaces) : shadows_(spaces) {}

  Order& order() { return order_; }
  const Order& order() const { return order_; }

  // An operation of the stream. Reads must stand before writes in `accesses`. What it conflicts with is in conflicts()
  // until the next call.
  Operation submit(StreamIndex stream, const Who& who, std::span<const MemoryAccess> accesses);
  // The host touches memory now.
  void host_access(const MemoryAccess& access);
  // The host gives pinned memory back, whose blocks are those that the entries name.
  void host_frees(std::size_t space, std::uint64_t start, std::uint64_t bytes);
  const std::vector<Conflict>& conflicts() const { return conflicts_; }
  // What it keeps of earlier operations, in pieces of memory.
  std::size_t ranges() const;

 private:
  void add_conflict(const Entry& entry, bool written, std::uint64_t start, std::uint64_t bytes, const MemoryAccess& access,
                    std::size_t position);

  Order order_;
  std::vector<Shadow> shadows_;
  std::vector<Conflict> conflicts_;
  std::uint64_t operations_ = 0;
};

}  // namespace labrig::sim
