#include "console.hpp"

#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "formats.hpp"
#include "render.hpp"

namespace labrig::app {

Progress::Progress(const Context& context, std::string what) : what_(std::move(what)) {
  if (context.quiet || ::isatty(STDERR_FILENO) != 1) return;
  thread_ = std::jthread([this](std::stop_token stop) { run(std::move(stop)); });
}

Progress::~Progress() = default;

void Progress::show(std::size_t done, std::size_t total) {
  const std::lock_guard lock(mutex_);
  done_ = done;
  total_ = total;
}

void Progress::run(std::stop_token stop) {
  std::unique_lock lock(mutex_);
  const auto pause = [&](std::chrono::milliseconds time) {
    return wake_.wait_for(lock, stop, time, [&] { return stop.stop_requested(); });
  };
  if (pause(std::chrono::seconds(1))) return;
  do {
    const std::string count =
        total_ == 0 ? "…" : ": " + std::to_string(done_) + " of " + std::to_string(total_) + " cases";
    std::fprintf(stderr, "\r\033[K%s%s", what_.c_str(), count.c_str());
    std::fflush(stderr);
  } while (!pause(std::chrono::milliseconds(200)));
  std::fputs("\r\033[K", stderr);
}

namespace {

// no-color.org: set, and not to nothing.
bool no_color_is_unset() {
  const char* value = std::getenv("NO_COLOR");
  return value == nullptr || *value == '\0';
}

bool in_github_log() {
  const char* value = std::getenv("GITHUB_ACTIONS");
  return value != nullptr && std::string_view(value) == "true";
}

}  // namespace

std::string for_the_log(const std::string& text) { return in_github_log() ? reports::without_commands(text) : text; }

std::string json_for_the_log(const nlohmann::ordered_json& answer) {
  const std::string text = answer.dump(2, ' ', false, nlohmann::json::error_handler_t::replace);
  return in_github_log() ? reports::json_without_commands(text) : text;
}

void print_answer(const nlohmann::ordered_json& answer) { std::printf("%s\n", json_for_the_log(answer).c_str()); }

void print_report(const Context& context, const nlohmann::ordered_json& report) {
  if (context.json) {
    print_answer(report);
  } else if (!context.quiet) {
    const bool color = ::isatty(STDOUT_FILENO) == 1 && no_color_is_unset();
    std::fputs(for_the_log(reports::render_console(nlohmann::json(report), color)).c_str(), stdout);
  }
  std::fflush(stdout);
}

}  // namespace labrig::app
