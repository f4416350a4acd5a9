// Whether a report is valid against reports/schema/report-1.schema.json.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace labrig::test {

// Empty when valid, else where and why.
std::string problems(const nlohmann::json& report);

}  // namespace labrig::test
