// labrig.toml, what `labrig ci` grades in a repository: docs/ci.md has the format.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "labrig/error.hpp"

namespace labrig::kit {

enum class View : std::uint8_t { student, instructor };

struct CiSubmission {
  std::string place;           // "labrig.toml:7:1: ", for errors that are found later
  std::filesystem::path path;  // of the answer, relative to the file's folder
  std::string lab;
  std::optional<double> pass_mark;  // instead of the lab's
  std::vector<std::string> formats;
  std::filesystem::path out;  // relative to the file's folder
  std::string secret;         // name of an environment variable; empty: the public secret
  View view = View::student;  // what the files and the log show of hidden cases
};

// `text` is the TOML; `file` names it in errors. `known_formats` are those that may be asked for. What a submission
// does not say, the top of the file says for all. Errors: `bad-toml`, `bad-ci-file`.
Result<std::vector<CiSubmission>> parse_ci_file(std::string_view text, const std::string& file,
                                                const std::vector<std::string>& known_formats);

}  // namespace labrig::kit
