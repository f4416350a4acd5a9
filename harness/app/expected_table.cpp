// Reads the tables of flawed variants with toml++, and rows of reports.
#include "expected_table.hpp"

#include <toml++/toml.h>

#include <nlohmann/json.hpp>

namespace labrig::app {

namespace {

// "FILE:LINE:COLUMN: "
std::string at(const std::filesystem::path& file, const toml::source_position& place) {
  return file.string() + ":" + std::to_string(place.line) + ":" + std::to_string(place.column) + ": ";
}

// Without a code where the variant is no table or has none.
ExpectedRow read_row(const toml::node& value) {
  ExpectedRow row;
  const toml::table* variant = value.as_table();
  if (variant == nullptr) return row;
  row.refused = (*variant)["refused"].value_or(false);
  row.code = (*variant)["code"].value_or(row.refused ? "plugin-imports" : "");
  if (const toml::array* loses = (*variant)["loses"].as_array())
    for (const auto& id : *loses) row.loses.insert(id.value_or(""));
  return row;
}

}  // namespace

std::string ExpectedRow::text() const {
  if (refused) return "is refused";
  std::string result;
  for (const std::string& id : loses) result += (result.empty() ? "loses " : ", ") + id;
  return result + " (" + code + ")";
}

const ExpectedRow* ExpectedTable::find(const std::string& lab, const std::string& variant) const {
  const auto found = rows.find({lab, variant});
  return found == rows.end() ? nullptr : &found->second;
}

ExpectedRow row_of(const nlohmann::json& report) {
  ExpectedRow row;
  row.refused = report.at("cases").empty();
  for (const nlohmann::json& check : report.at("checks")) {
    if (check.at("status") == "passed") continue;
    if (row.code.empty()) row.code = check.at("reason").value("code", "");
    if (!row.refused) row.loses.insert(check.at("id").get<std::string>());
  }
  return row;
}

Result<ExpectedTable> read_expected_tables(const std::filesystem::path& folder) {
  ExpectedTable table;
  std::error_code missing;
  for (const auto& entry : std::filesystem::directory_iterator(folder, missing)) {
    const auto file = entry.path() / "expected.toml";
    if (!std::filesystem::exists(file)) continue;
    try {
      for (const auto& [name, value] : toml::parse_file(file.string())) {
        const ExpectedRow row = read_row(value);
        if (row.code.empty() || row.refused != row.loses.empty())
          return Error(
              "bad-expected-toml",
              at(file, value.source().begin) + "variant `" + std::string(name.str()) + "` does not say what it loses",
              "each variant is a table with `loses` (ids of checks, at least one) and `code`, or is refused",
              "write  loses = [\"check-id\"]  and  code = \"reason-code\",  or  refused = true");
        table.rows[{entry.path().filename().string(), std::string(name.str())}] = row;
      }
    } catch (const toml::parse_error& error) {
      return Error("bad-expected-toml", at(file, error.source().begin) + "not TOML", std::string(error.description()),
                   "mend that line");
    }
  }
  if (missing)
    return Error("no-such-folder", "there is no folder " + folder.string(), missing.message(),
                 "name a folder like plugins/flawed");
  return table;
}

}  // namespace labrig::app
