// The facts that labs teach, by their stable ids (F1, F2, …), each in one short sentence.
#pragma once

#include <string_view>

namespace labrig::reports {

// Empty for an id that is none.
std::string_view fact_text(std::string_view id);

}  // namespace labrig::reports
