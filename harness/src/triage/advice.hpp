// Advice that several inputs share. Nothing here is a "fix" that circulates and is wrong: no empty_cache each step, no
// dividing by hand, no smaller batch as step one.
#pragma once

#include <string>
#include <vector>

namespace labrig::triage {

std::vector<std::string> capacity_advice();

}  // namespace labrig::triage
