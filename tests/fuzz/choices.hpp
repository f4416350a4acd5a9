// The bytes of one fuzzer input as a row of decisions; zeros when they are used up. What a property of the product must
// be is said with `require`, which ends the program as a crash does.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <span>

namespace labrig::fuzz {

class Choices {
 public:
  explicit Choices(std::span<const std::uint8_t> bytes) : bytes_(bytes) {}

  bool done() const { return at_ == bytes_.size(); }
  std::uint8_t byte() { return done() ? std::uint8_t{0} : bytes_[at_++]; }
  std::uint64_t word() {
    std::uint64_t value = 0;
    for (int i = 0; i < 8; ++i) value = value << 8 | byte();
    return value;
  }
  // 0 to bound - 1, of at most 65,536.
  std::uint64_t below(std::uint64_t bound) {
    return (bound <= 256 ? byte() : static_cast<std::uint64_t>(byte()) << 8 | byte()) % bound;
  }
  bool one_in(std::uint64_t n) { return below(n) == n - 1; }
  // Values near the edges of what is checked.
  std::uint64_t number() {
    switch (below(8)) {
      case 0:
        return 0;
      case 1:
        return ~std::uint64_t{0} - below(3);
      case 2:
        return (std::uint64_t{1} << below(64)) - below(2);
      case 3:
        return word();
      default:
        return below(8192);
    }
  }
  std::span<const std::uint8_t> rest() const { return bytes_.subspan(at_); }

 private:
  std::span<const std::uint8_t> bytes_;
  std::size_t at_ = 0;
};

inline void require(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "does not hold: %s\n", what);
  std::abort();
}

}  // namespace labrig::fuzz
