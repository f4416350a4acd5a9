// JSON as triage takes it: histories, snapshots, statistics, lists of loss scales, lists of readings. What it is shows
// in its keys.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "labrig/triage.hpp"

namespace labrig::triage {

struct JsonInput {
  std::optional<Result<Diagnosis>> diagnosis;  // the JSON is one of ours
  std::string strings;                         // else: its texts, which may hold a message
  bool is_json = false;
  std::string error;  // why it is none: line, column, what was expected
};

JsonInput read_json(std::string_view text);

}  // namespace labrig::triage
