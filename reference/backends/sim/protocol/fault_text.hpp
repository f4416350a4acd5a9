// The message for a device pointer that was dereferenced on the host, built in fixed memory: the fault handler of
// the worker prints it where nothing may allocate, and the card words its report with the same code from its own
// tables.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "protocol/pages.hpp"

namespace labrig::sim {

// Text in fixed memory; what does not fit is cut.
class FixedText {
 public:
  FixedText& operator<<(std::string_view text);
  FixedText& operator<<(std::uint64_t number);
  FixedText& hex(std::uint64_t number);
  std::string_view view() const { return {data_, length_}; }

 private:
  char data_[1024];
  std::size_t length_ = 0;
};

// What lies at the address.
struct FaultTarget {
  enum class Kind : std::uint8_t { none, live, freed } kind = Kind::none;
  std::string_view name;  // of the tensor
  std::uint64_t byte = 0, bytes = 0;
};

// Three lines. `card_offset` counts from the start of the card's memory.
void append_device_fault(FixedText& text, int card, std::uint64_t card_offset, const FaultTarget& target);
// A fault outside the device range.
void append_host_fault(FixedText& text, std::uint64_t address, CrashAccess access);

}  // namespace labrig::sim
