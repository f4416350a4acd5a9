// A recorded JSON file, gzipped or not, read with places: whoever finds something wrong in it can say in which line and
// column. NaN, Infinity and -Infinity, as Python writes them, are read too; they are texts of that spelling in json().
// The one user of zlib. Read next: value.hpp (how a document is read).
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>

#include "labrig/error.hpp"

namespace labrig::conform {

class JsonFile {
 public:
  // Fails with `bad-file`: not there, not readable, cut short, not JSON.
  static Result<JsonFile> read(const std::filesystem::path& path);

  const nlohmann::json& json() const { return json_; }
  // The error `bad-file` for a value of the document: "FILE:LINE:COLUMN: <problem>".
  Error error_at(const nlohmann::json::json_pointer& place, const std::string& problem) const;

 private:
  std::filesystem::path path_;
  std::string text_;
  nlohmann::json json_;
};

}  // namespace labrig::conform
