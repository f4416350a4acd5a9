// The sample reports, and one in which every text tries to break out of the page.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace labrig::reports::test {

const std::vector<std::string>& sample_names();
nlohmann::json sample(const std::string& name);
std::string read_file(const std::string& path);

// The flawed sample with each text of a student or a lab replaced by `text`; enumerations and numbers stay.
nlohmann::json with_every_text(const std::string& text);
// Markup, control and bidirectional characters, bytes that are no UTF-8, NUL, template tags, in one text.
std::string hostile_text();

}  // namespace labrig::reports::test
