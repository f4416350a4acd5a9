// The folder of a graded run: report.json and its renderings. The report is the truth; it is put in place whole, and
// never over that of somebody else.
#pragma once

#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <string>

namespace labrig::store {

// Writes <folder>/report.json, then the renderings by their file name. A report that is there already is replaced when
// it is of the same lab and of a submission of the same name or hash. Throws Error `other-report`, `cannot-write`.
void write_run(const std::filesystem::path& folder, const nlohmann::ordered_json& report,
               const std::map<std::string, std::string>& renderings);

}  // namespace labrig::store
