// What commands write on a terminal besides their answer: a progress line, and the verdict of a report.
#pragma once

#include <condition_variable>
#include <mutex>
#include <nlohmann/json.hpp>
#include <stop_token>
#include <string>
#include <thread>

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
  // From any thread.
  void show(std::size_t done, std::size_t total);

 private:
  void run(std::stop_token stop);

  const std::string what_;
  std::mutex mutex_;
  std::condition_variable_any wake_;
  std::size_t done_ = 0, total_ = 0;
  std::jthread thread_;  // last: it uses the others
};

// What goes to stdout or stderr: in GitHub's log nothing of it starts a command; elsewhere it stays as it is.
std::string for_the_log(const std::string& text);
std::string json_for_the_log(const nlohmann::ordered_json& answer);
// The answer to --json, on stdout. Bytes that are no UTF-8 (a file may be called so) become U+FFFD.
void print_answer(const nlohmann::ordered_json& answer);

// The answer of `check` and `grade`: the report as JSON with --json, else the verdict in words, unless --quiet.
void print_report(const Context& context, const nlohmann::ordered_json& report);

}  // namespace labrig::app
