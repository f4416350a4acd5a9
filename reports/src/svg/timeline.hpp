// Who was busy when: host, upload engine, compute engine, download engine; the student's run above the reference's on
// one time axis.
//
//   Your submission                2.41 ms
//   Upload engine    64 pieces · busy 82 %
//   [====][=][====][=][====][=][====][=]
//   Compute engine   ...
//   Reference                      1.05 ms
//   ...
//   0        500 us       1 ms
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "model.hpp"

namespace labrig::reports::svg {

struct Sides {
  const Trace* yours = nullptr;  // either may be missing
  const Trace* reference = nullptr;
  double end_ps() const;
};

struct Lane {
  std::string_view id, label;
};
const std::vector<Lane>& lanes();
// Those in which either side has something.
std::vector<Lane> used_lanes(const Sides& sides);

// A bar: one span, or many short ones that would not be told apart.
struct Bar {
  double start = 0, end = 0;  // fractions of the axis
  double busy_ps = 0, bytes = 0;
  std::size_t pieces = 0;
  std::string name;  // empty: of several names
};
// Spans shorter than a few pixels are joined with their short neighbours, more of them until at most `most` bars are
// left.
std::vector<Bar> bars_of(const Trace& trace, std::string_view lane, double end_ps, std::size_t most);

std::string timeline(const Sides& sides, const std::string& id, std::size_t most_bars_a_lane);

}  // namespace labrig::reports::svg
