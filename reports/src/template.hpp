// The page templates (../template/*.mustache, style.css), embedded at build time, and the one way to fill them.
#pragma once

#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>

namespace labrig::reports {

// File name to text. The .cpp is made by ../template/embed.cmake.
const std::map<std::string, std::string>& templates();

// Fills the template of that name. {{name}} is escaped, {{{name}}} is not: only SVG and CSS made here go there. Empty
// strings, false and empty lists are false for sections. Every template can be a partial: {{>check.mustache}}.
std::string fill(const std::string& name, nlohmann::json view);

}  // namespace labrig::reports
