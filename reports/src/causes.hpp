// Causes, not symptoms: which lost checks were lost only because of another one. A check that needs another one
// ("needs:values-right"), or that was lost for exactly the reason of an earlier one (a crash), follows it.
#pragma once

#include <map>
#include <string_view>

#include "model.hpp"

namespace labrig::reports {

// For each check of the report the one that it follows; itself when it stands alone. Points into `report`.
std::map<const Check*, const Check*> causes_of(const Report& report);

bool lost(const Check& check);  // failed or partial
// The case that decided a check: the lowest share, the first on ties; empty when it has none.
std::string_view deciding_case(const Check& check);

}  // namespace labrig::reports
