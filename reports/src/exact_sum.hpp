// Scores that a program of others will add up, so that its sum is ours to the last bit.
#pragma once

#include <vector>

namespace labrig::reports {

struct Part {
  double points = 0, most = 0;
};

// For each part a score from 0 to its most, close to its points. Added one by one, in order and as doubles, they give
// `total` exactly; where the parts have too little room for it, one more score at the end holds the rest. `total` is
// finite and not negative.
std::vector<double> adding_up_to(double total, const std::vector<Part>& parts);

}  // namespace labrig::reports
