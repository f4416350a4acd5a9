// Memory histories as JSON, schema labrig.history/1. For files that include nlohmann anyway.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "labrig/triage.hpp"

namespace labrig::triage {

Result<MemoryHistory> history_from(const nlohmann::json& all);

}  // namespace labrig::triage
