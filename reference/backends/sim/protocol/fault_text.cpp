// Only fixed memory and plain loops: this runs in a signal handler.
#include "protocol/fault_text.hpp"

namespace labrig::sim {

FixedText& FixedText::operator<<(std::string_view text) {
  for (const char c : text) {
    if (length_ == sizeof data_) break;
    data_[length_++] = c;
  }
  return *this;
}

FixedText& FixedText::operator<<(std::uint64_t number) {
  char digits[20];
  std::size_t count = 0;
  do digits[count++] = static_cast<char>('0' + number % 10);
  while ((number /= 10) != 0);
  while (count > 0) *this << std::string_view(&digits[--count], 1);
  return *this;
}

FixedText& FixedText::hex(std::uint64_t number) {
  char digits[16];
  std::size_t count = 0;
  do digits[count++] = "0123456789abcdef"[number % 16];
  while ((number /= 16) != 0);
  *this << "0x";
  while (count > 0) *this << std::string_view(&digits[--count], 1);
  return *this;
}

void append_device_fault(FixedText& text, int card, std::uint64_t card_offset, const FaultTarget& target) {
  const auto number = static_cast<std::uint64_t>(card);
  text << "error: device pointer dereferenced on the host: sim:" << number << "+";
  text.hex(card_offset);
  if (target.kind == FaultTarget::Kind::none) {
    text << " belongs to no tensor";
  } else {
    text << (target.kind == FaultTarget::Kind::live ? " is byte " : " was byte ") << target.byte;
    if (target.name.empty()) {
      text << " of an unnamed tensor";
    } else {
      text << " of tensor '" << target.name << "'";
    }
    text << " (" << target.bytes << " bytes)";
    if (target.kind == FaultTarget::Kind::freed) text << ", which is freed";
  }
  text << "\n  why: memory of sim:" << number << " is not host memory; only kernels and copies reach it"
       << "\n  fix: copy the tensor to the CPU first, or run the computation as an operator on sim:" << number << "\n";
}

void append_host_fault(FixedText& text, std::uint64_t address, CrashAccess access) {
  const std::string_view verb = access == CrashAccess::write  ? "wrote to"
                                : access == CrashAccess::read ? "read from"
                                                              : "touched";
  constexpr std::uint64_t kNearNull = 64 * 1024;
  text << "error: the program " << verb << " memory that it does not have";
  if (address < kNearNull) {
    text << ": address ";
    text.hex(address);
  }
  text << "\n  why: "
       << (address < kNearNull ? "a null pointer was used, or a small number taken for a pointer"
                               : "nothing is mapped there, or it may not be accessed in this way")
       << "\n  fix: check pointers, indices and lifetimes; built with -fsanitize=address the program names the line\n";
}

}  // namespace labrig::sim
