// Ledger: enters accesses, collects conflicts.
#include "card/ledger.hpp"

namespace labrig::sim {

void Ledger::add_conflict(const Entry& entry, bool written, std::uint64_t start, std::uint64_t bytes,
                          const MemoryAccess& access, std::size_t position) {
  Conflict conflict;
  conflict.kind = !access.write ? Hazard::Kind::read_after_write
                  : written     ? Hazard::Kind::write_after_write
                                : Hazard::Kind::write_after_read;
  conflict.possible = entry.possible || access.possible;
  conflict.other_block = entry.block != access.block && entry.block != 0 && access.block != 0;
  conflict.earlier = {entry.stream, entry.sequence, entry.operation};
  conflict.space = access.space;
  conflict.start = start;
  conflict.bytes = bytes;
  conflict.access = position;
  conflict.entry = entry;
  conflicts_.push_back(conflict);
}

Operation Ledger::submit(StreamIndex stream, const Who& who, std::span<const MemoryAccess> accesses) {
  conflicts_.clear();
  const Operation operation{stream, order_.submit(stream), ++operations_};
  const Clock& clock = order_.clock(stream);
  Entry entry;
  entry.sequence = operation.sequence;
  entry.operation = operation.number;
  entry.stream = stream;
  entry.who = who;
  for (std::size_t i = 0; i < accesses.size(); ++i) {
    const MemoryAccess& access = accesses[i];
    entry.block = access.block;
    entry.buffer = access.buffer;
    entry.possible = access.possible;
    shadows_[access.space].access(access.start, access.bytes, access.write, entry, clock, order_.frontier(),
                                  [&](const Entry& earlier, bool written, std::uint64_t start, std::uint64_t bytes) {
                                    add_conflict(earlier, written, start, bytes, access, i);
                                  });
  }
  return operation;
}

void Ledger::host_access(const MemoryAccess& access) {
  conflicts_.clear();
  shadows_[access.space].meet(access.start, access.bytes, access.write, order_.frontier(),
                              [&](const Entry& earlier, bool written, std::uint64_t start, std::uint64_t bytes) {
                                add_conflict(earlier, written, start, bytes, access, 0);
                              });
}

void Ledger::host_frees(std::size_t space, std::uint64_t start, std::uint64_t bytes) {
  MemoryAccess access;
  access.space = space;
  access.start = start;
  access.bytes = bytes;
  access.write = true;
  host_access(access);
  for (Conflict& conflict : conflicts_) conflict.other_block = true;
}

std::size_t Ledger::ranges() const {
  std::size_t count = 0;
  for (const Shadow& shadow : shadows_) count += shadow.ranges();
  return count;
}

std::size_t Ledger::entries() const {
  std::size_t count = 0;
  for (const Shadow& shadow : shadows_) count += shadow.entries();
  return count;
}

void Ledger::sweep() {
  for (Shadow& shadow : shadows_) shadow.sweep(order_.frontier());
}

}  // namespace labrig::sim
