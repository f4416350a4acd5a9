#include "console.hpp"

#include <unistd.h>

#include <cstdio>
#include <cstdlib>

#include "render.hpp"

namespace labrig::app {

Progress::Progress(const Context& context, std::string what)
    : what_(std::move(what)), enabled_(!context.quiet && ::isatty(STDERR_FILENO) == 1) {}

Progress::~Progress() {
  if (shown_) std::fputs("\r\033[K", stderr);
}

void Progress::show(std::size_t done, std::size_t total) {
  if (!enabled_ || std::chrono::steady_clock::now() - start_ < std::chrono::seconds(1)) return;
  shown_ = true;
  std::fprintf(stderr, "\r\033[K%s: %zu of %zu cases", what_.c_str(), done, total);
  std::fflush(stderr);
}

void print_report(const Context& context, const nlohmann::ordered_json& report) {
  if (context.json) {
    std::printf("%s\n", report.dump(2, ' ', false, nlohmann::json::error_handler_t::replace).c_str());
  } else if (!context.quiet) {
    const bool color = ::isatty(STDOUT_FILENO) == 1 && std::getenv("NO_COLOR") == nullptr;
    std::fputs(reports::render_console(nlohmann::json(report), color).c_str(), stdout);
  }
  std::fflush(stdout);
}

}  // namespace labrig::app
