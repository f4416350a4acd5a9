// What the wrong values of a comparison have in common: the sentence that turns "3,072 of 4,096 values are wrong" into
// "they are those of the batch before". Says nothing where nothing is clear.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "labrig/lab.hpp"

namespace labrig::lab {

// A comparison that failed, element by element in row-major order.
struct Differences {
  Dims sizes;
  std::span<const double> got, want;
  std::span<const std::byte> bytes;  // of the actual tensor, as it came back
  std::span<const double> before;    // empty when there is none
  double rtol = 0, atol = 0;
  std::vector<std::size_t> wrong;  // which elements, ascending; at least one

  // Whether `value` would have passed for `expected`.
  bool near(double value, double expected) const;
};

struct Pattern {
  std::string name, text;
  std::int64_t count = 0;  // wrong values that fit it
};

// An empty name when nothing is clear.
Pattern find_pattern(const Differences& differences);

}  // namespace labrig::lab
