// The tables of flawed variants: plugins/flawed/<lab>/expected.toml, a table a variant with the checks it `loses` and
// the reason `code` of the first of them, or with `refused = true`: it uses a symbol that the lab forbids, so none of
// its code runs.
#pragma once

#include <filesystem>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <set>
#include <string>
#include <utility>

#include "labrig/error.hpp"

namespace labrig::app {

struct ExpectedRow {
  std::set<std::string> loses;
  std::string code;
  bool refused = false;
  bool operator==(const ExpectedRow&) const = default;
  std::string text() const;  // "loses bytes-up, time (too-many-bytes)"
};

struct ExpectedTable {
  std::map<std::pair<std::string, std::string>, ExpectedRow> rows;  // by lab and variant
  const ExpectedRow* find(const std::string& lab, const std::string& variant) const;
};

// What a report says of its checks, in the words of the table.
ExpectedRow row_of(const nlohmann::json& report);

// Every <folder>/<lab>/expected.toml. Error `bad-expected-toml` with file, line and column.
Result<ExpectedTable> read_expected_tables(const std::filesystem::path& folder);

}  // namespace labrig::app
