// How findings are told: a line for each to people, and JSON (docs/doctor.schema.json) to programs.
#pragma once

#include <string>
#include <vector>

#include "doctor/check.hpp"

namespace labrig::doctor {

// For a terminal of 80 columns: a check that passes is one line; else why and fix stand below it. What stands between
// backquotes is a command and stays whole, so that it can be copied.
std::string to_text(const std::vector<Check>& checks);

nlohmann::ordered_json to_json(const std::vector<Check>& checks);

// `text` in lines of at most `width`, each but the first after `indent` blanks.
std::string wrapped(const std::string& text, std::size_t indent, std::size_t width);

}  // namespace labrig::doctor
