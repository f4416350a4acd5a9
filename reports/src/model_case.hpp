// One case of a report, with its traces, hazards, mismatches and curves.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "model.hpp"

namespace labrig::reports {

Case read_case(const nlohmann::json& json);

}  // namespace labrig::reports
