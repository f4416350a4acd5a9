// What CUDA_VISIBLE_DEVICES leaves of a machine's cards.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace labrig::doctor {

struct Visible {
  std::string id;    // empty: nothing is hidden by mistake; else hides-all, named-twice, unknown-number, unknown-name
  std::string what;  // "CUDA_VISIBLE_DEVICES=-1 hides every card"
  int shown = -1;    // how many cards are left; -1: all, or not known
};

// CUDA reads the list from the left and stops at the first entry that names no card. `uuids`: of every card there is
// ("GPU-…", "MIG-…"); empty when that is not known, then names are believed. `cards`: how many; 0: not known.
Visible visible(const std::optional<std::string>& variable, int cards, const std::vector<std::string>& uuids);

}  // namespace labrig::doctor
