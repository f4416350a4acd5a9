// Reads the tables of flawed variants with toml++.
#include "expected_table.hpp"

#include <toml++/toml.h>

namespace labrig::app {

std::string ExpectedRow::text() const {
  std::string result;
  for (const std::string& id : loses) result += (result.empty() ? "" : ", ") + id;
  return result;
}

const ExpectedRow* ExpectedTable::find(const std::string& lab, const std::string& variant) const {
  const auto found = rows.find({lab, variant});
  return found == rows.end() ? nullptr : &found->second;
}

Result<ExpectedTable> read_expected_tables(const std::filesystem::path& folder) {
  ExpectedTable table;
  std::error_code missing;
  for (const auto& entry : std::filesystem::directory_iterator(folder, missing)) {
    const auto file = entry.path() / "expected.toml";
    if (!std::filesystem::exists(file)) continue;
    try {
      for (const auto& [name, value] : toml::parse_file(file.string())) {
        ExpectedRow row;
        const toml::table* variant = value.as_table();
        if (variant != nullptr) row.code = (*variant)["code"].value_or("");
        const toml::array* loses = variant != nullptr ? (*variant)["loses"].as_array() : nullptr;
        if (loses == nullptr || loses->empty() || row.code.empty()) {
          const auto at = value.source().begin;
          return Error("bad-expected-toml",
                       file.string() + ":" + std::to_string(at.line) + ":" + std::to_string(at.column) + ": variant `" +
                           std::string(name.str()) + "` does not say what it loses",
                       "each variant is a table with `loses` (ids of checks, at least one) and `code`",
                       "write  loses = [\"check-id\"]  and  code = \"reason-code\"");
        }
        for (const auto& id : *loses) row.loses.insert(id.value_or(""));
        table.rows[{entry.path().filename().string(), std::string(name.str())}] = row;
      }
    } catch (const toml::parse_error& error) {
      const auto at = error.source().begin;
      return Error("bad-expected-toml",
                   file.string() + ":" + std::to_string(at.line) + ":" + std::to_string(at.column) + ": not TOML",
                   std::string(error.description()), "mend that line");
    }
  }
  if (missing)
    return Error("no-such-folder", "there is no folder " + folder.string(), missing.message(),
                 "name a folder like plugins/flawed");
  return table;
}

}  // namespace labrig::app
