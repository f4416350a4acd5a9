// The bytes of the cards, and the only code that reads or writes them. Private to the card: the client's device range
// is address space without memory behind it. Without data (cost-only) there are no bytes at all.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "card/byte_ranges.hpp"
#include "ops/kernel.hpp"
#include "ops/plain/kernels.hpp"
#include "protocol/address_map.hpp"
#include "protocol/regions.hpp"

namespace labrig::sim {

class DeviceMemory {
 public:
  // Throws Error `no-shared-memory` when the address space cannot be had.
  DeviceMemory(const AddressMap& map, bool data);

  bool has_data() const { return memory_.data() != nullptr; }
  // Of a validated device offset. Not without data.
  std::byte* at(std::uint64_t offset) const { return memory_.data() + offset; }

  // Bytes that nobody may rely on: NaN in all float types, -1 in the signed integers.
  void poison(std::uint64_t offset, std::uint64_t bytes);
  // Gives the pages of a freed segment back to the system.
  void release(std::uint64_t offset, std::uint64_t bytes);

  // The effects of commands; each does nothing without data. Operand addresses of `call` are offsets.
  // The inputs of a kernel show poison in the ranges of `poisoned`, which stay as they are. One that meets an index out
  // of range says so, and has poisoned what it should have written.
  std::optional<kernels::BadIndex> run(const KernelCall& call, const RangeSet& poisoned);
  void write(std::uint64_t destination, const std::byte* source, std::uint64_t bytes);
  void read(std::byte* destination, std::uint64_t source, std::uint64_t bytes);
  void copy(std::uint64_t destination, std::uint64_t source, std::uint64_t bytes);

 private:
  Mapping memory_;
};

}  // namespace labrig::sim
