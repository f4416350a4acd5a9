// A check in plain words, as formats without charts tell it.
#pragma once

#include <string>

#include "model.hpp"

namespace labrig::reports {

// Why points were lost and what to try, a fact a line: "what: …", "where: …", "cause: …", "next: …", "evidence: …".
// Empty for a check that lost none.
std::string loss_in_words(const Check& check);
// "12.5 of 15 points".
std::string points_in_words(const Check& check);
// "environment.generated_at", "environment.wall_ms" and their like; empty where there is none.
std::string environment_value(const Report& report, const std::string& name);

}  // namespace labrig::reports
