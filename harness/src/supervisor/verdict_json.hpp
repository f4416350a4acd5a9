// What a judge wants in the report besides points, as it stands there: mismatches and charts, within bounds.
#pragma once

#include <nlohmann/json.hpp>

#include "labrig/lab.hpp"

namespace labrig::supervisor {

// The first 20.
nlohmann::ordered_json mismatches_json(const lab::Verdict& verdict);
// At most 4 charts of at most 2,000 points each; of more points every second, third, … is left out. A y that is not
// finite is null. Throws Error `bad-chart` for an id or a role that the report has no place for.
nlohmann::ordered_json charts_json(const lab::Verdict& verdict);

}  // namespace labrig::supervisor
