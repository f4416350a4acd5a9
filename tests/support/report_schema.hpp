// Whether a report is valid against reports/schema/report-1.schema.json.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace labrig::test {

// Empty when valid, else where and why.
std::string problems(const nlohmann::json& report);
// The same for any value and the file of any schema (draft 7).
std::string problems(const nlohmann::json& value, const std::string& schema_file);

}  // namespace labrig::test
