// Grades submissions of the tests' lab `plus-one`.
#pragma once

#include <string>
#include <vector>

#include "run_labrig.hpp"

namespace labrig::test {

inline std::string toy_plugin(const std::string& name) {
  return std::string(LABRIG_BUILD) + "/tests/plugins/plus-one/" + name + ".labrig.so";
}

inline std::vector<std::string> with_toy_labs(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), {"--labs", std::string(LABRIG_BUILD) + "/tests/labs"});
  return arguments;
}

struct Graded {
  int exit_code = -1;
  std::string text;
  nlohmann::json report;

  const nlohmann::json& item(const std::string& list, const std::string& id) const {
    for (const nlohmann::json& candidate : report.at(list))
      if (candidate.at("id") == id) return candidate;
    throw std::runtime_error("the report has no " + id);
  }
};

inline Graded grade_toy(const std::string& path, const std::vector<std::string>& more = {}) {
  const Scratch scratch;
  std::vector<std::string> arguments = {"grade", path, "--lab", "plus-one", "--seed", "7", "--out", scratch / "out"};
  arguments.insert(arguments.end(), more.begin(), more.end());
  const Outcome outcome = run_labrig(with_toy_labs(arguments));
  return {outcome.exit_code, outcome.text, read_json(scratch / "out/report.json")};
}

// What must be the same however often it is graded.
inline nlohmann::json body(const nlohmann::json& report) {
  return {{"score", report.at("score")}, {"checks", report.at("checks")}, {"cases", report.at("cases")}};
}

}  // namespace labrig::test
