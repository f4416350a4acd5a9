// The ordering ledger: finds every two operations that touch the same bytes, of which one writes, and that nothing
// orders. It judges a program by its order alone: not by time, and not by whether the bytes came out right this time.
//
//   server ──operation, its accesses──► Ledger ──conflicts──► Findings ──groups, counts, texts──► Report
//                                        ├─ order    vector clocks: is A before B?
//                                        └─ shadow   one a memory space: who touched these bytes?
//
// Read next: order.hpp, shadow.hpp, conflict.hpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "card/conflict.hpp"
#include "card/order.hpp"
#include "card/shadow.hpp"

namespace labrig::sim {

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
  // The host gives memory back without waiting, whose blocks are those that the entries name.
  void host_frees(std::size_t space, std::uint64_t start, std::uint64_t bytes);
  const std::vector<Conflict>& conflicts() const { return conflicts_; }
  // What it keeps of earlier operations: pieces of memory, and accesses to them.
  std::size_t ranges() const;
  std::size_t entries() const;
  // Forgets what the host is ordered after.
  void sweep();

 private:
  void add_conflict(const Entry& entry, bool written, std::uint64_t start, std::uint64_t bytes,
                    const MemoryAccess& access, std::size_t position);

  Order order_;
  std::vector<Shadow> shadows_;
  std::vector<Conflict> conflicts_;
  std::uint64_t operations_ = 0;
};

}  // namespace labrig::sim
