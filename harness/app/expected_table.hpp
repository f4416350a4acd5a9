// The tables of flawed variants: plugins/flawed/<lab>/expected.toml, a table a variant with the checks it `loses` and
// the reason `code` of the first of them.
#pragma once

#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "labrig/error.hpp"

namespace labrig::app {

struct ExpectedRow {
  std::set<std::string> loses;
  std::string code;
  std::string text() const;  // "bytes-up, time"
};

struct ExpectedTable {
  std::map<std::pair<std::string, std::string>, ExpectedRow> rows;  // by lab and variant
  const ExpectedRow* find(const std::string& lab, const std::string& variant) const;
};

// Every <folder>/<lab>/expected.toml. Error `bad-expected-toml` with file, line and column.
Result<ExpectedTable> read_expected_tables(const std::filesystem::path& folder);

}  // namespace labrig::app
