// What a save changed: two reports of the same submission, one after the other, as a few lines for a terminal.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace labrig::app {

// "61.5 -> 72.5 of 100 points", a line a check that changed its status or points (why and what to try where it lost
// some), and the next step where that is another one. "nothing changed" alone when nothing did. Ends in a newline.
std::string changes_text(const nlohmann::json& before, const nlohmann::json& now);

// A report of a submission that was refused before it ran: it does not compile.
bool is_refused(const nlohmann::json& report);
// What a student reads of it.
std::string refusal_text(const nlohmann::json& report);

}  // namespace labrig::app
