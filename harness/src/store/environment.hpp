// The part of a report that was measured or belongs to this machine; never part of the grade.
#pragma once

#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <vector>

#include "grade/outcome.hpp"

namespace labrig::store {

struct RunFacts {
  std::string secret;  // the course's; only its id is shown
  double wall_ms = 0;
  std::vector<std::string> notes;
};

nlohmann::ordered_json environment(const RunFacts& facts, std::span<const grade::CaseOutcome> cases);

// "public" for the public secret, else the first digits of a hash.
std::string secret_id(const std::string& secret);

}  // namespace labrig::store
