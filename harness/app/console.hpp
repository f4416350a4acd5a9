// What commands write on a terminal besides their answer: a progress line, and the verdict of a report.
#pragma once

#include <chrono>
#include <nlohmann/json.hpp>
#include <string>

#include "commands.hpp"

namespace labrig::app {

// One line on stderr, rewritten in place, for work that takes over a second; nothing when stderr is no terminal. The
// destructor takes it away.
class Progress {
 public:
  Progress(const Context& context, std::string what);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  void show(std::size_t done, std::size_t total);

 private:
  std::string what_;
  bool enabled_, shown_ = false;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

// The answer of `check` and `grade`: the report as JSON with --json, else the verdict in words, unless --quiet.
void print_report(const Context& context, const nlohmann::ordered_json& report);

}  // namespace labrig::app
