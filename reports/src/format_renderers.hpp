// One function a format; formats.hpp chooses among them. Each throws nlohmann::json::exception when `report` is not an
// object, and takes whatever else is missing as empty.
#pragma once

#include <cstddef>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

namespace labrig::reports {

// `file`: shown as where failures are; empty: none.
std::string render_junit(const nlohmann::json& report, std::string_view file);
std::string render_gradescope(const nlohmann::json& report);
// At most `limit` bytes, from 50,000 on; what is left out is said. A comment on GitHub may have 65,536 characters.
inline constexpr std::size_t kCommentLimit = 65'000;
std::string render_markdown(const nlohmann::json& report, std::size_t limit = kCommentLimit);
std::string render_csv(const nlohmann::json& report);
std::string render_chrome_trace(const nlohmann::json& report);
std::string render_classroom(const nlohmann::json& report);

}  // namespace labrig::reports
