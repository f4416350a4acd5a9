// How a text finds its entries, in five steps; the first that finds something answers:
//
//   1. the text is a code of labrig, or the id of an entry
//   2. a pattern of an entry stands in the text and ends in the message; entries whose pattern ends above it come after
//   3. a code stands among the words of the text
//   4. its numbers are a log of loss scales, or the value of CUDA_VISIBLE_DEVICES
//   5. a short text without any "…Error:" shares enough words with a symptom
//
// In step 2 the entry with the most letters matched is first, in step 5 the one with the best share of words. Equal
// ones keep the order of the catalogue, so that the same text always gives the same answer.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "explain/entry.hpp"

namespace labrig::explain {

struct Match {
  const Entry* entry = nullptr;
  std::string by;    // the code, pattern or symptom that led here
  std::string note;  // what the text's own numbers say; usually empty
};

// Best first; at most five. Points into `catalogue`.
std::vector<Match> find_entries(const Catalogue& catalogue, std::string_view text);

}  // namespace labrig::explain
