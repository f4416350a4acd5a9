#include "watch.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "check_changes.hpp"
#include "console.hpp"
#include "folder_watch.hpp"
#include "labrig/error.hpp"

extern char** environ;

namespace labrig::app {
using Json = nlohmann::ordered_json;

namespace {

constexpr int kLookMs = 500;  // a signal between a look at the flag and poll() is seen after that at the latest

volatile std::sig_atomic_t stopped = 0;

// Ctrl-C and its like become a flag, for a scope; poll() returns when one comes.
class StopScope {
 public:
  StopScope() {
    stopped = 0;
    struct sigaction action{};
    action.sa_handler = [](int) { stopped = 1; };
    for (std::size_t i = 0; i < kSignals.size(); ++i) ::sigaction(kSignals[i], &action, &before_[i]);
  }
  ~StopScope() {
    for (std::size_t i = 0; i < kSignals.size(); ++i) ::sigaction(kSignals[i], &before_[i], nullptr);
  }
  StopScope(const StopScope&) = delete;
  StopScope& operator=(const StopScope&) = delete;

 private:
  static constexpr std::array kSignals = {SIGINT, SIGTERM, SIGHUP};
  std::array<struct sigaction, kSignals.size()> before_{};
};

// One try: a process that answers on a pipe.
class Try {
 public:
  explicit Try(const std::vector<std::string>& command) {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) throw not_started(errno);
    answer_ = ends[0];
    posix_spawn_file_actions_t actions;
    ::posix_spawn_file_actions_init(&actions);
    ::posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    ::posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
    std::vector<char*> words;
    for (const std::string& word : command) words.push_back(const_cast<char*>(word.c_str()));
    words.push_back(nullptr);
    const int error = ::posix_spawn(&pid_, words.front(), &actions, nullptr, words.data(), environ);
    ::posix_spawn_file_actions_destroy(&actions);
    ::close(ends[1]);
    if (error == 0) return;
    ::close(answer_);
    throw not_started(error);
  }
  ~Try() {
    if (pid_ > 0) ::kill(pid_, SIGTERM);  // it ends what it started, and itself
    wait();
    ::close(answer_);
  }
  Try(const Try&) = delete;
  Try& operator=(const Try&) = delete;

  int descriptor() const { return answer_; }
  // Takes what has come; false at the end of the answer.
  bool read() {
    char chunk[65536];
    const ssize_t count = ::read(answer_, chunk, sizeof chunk);
    if (count < 0) return errno == EINTR || errno == EAGAIN;
    text_.append(chunk, static_cast<std::size_t>(count));
    return count > 0;
  }
  const std::string& text() const { return text_; }
  void wait() {
    while (pid_ > 0 && ::waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
    }
    pid_ = -1;
  }

 private:
  static Error not_started(int number) {
    return {"check-not-started", "a try could not be started", std::strerror(number),
            "close programs that you do not need, and start `labrig check --watch` again"};
  }

  pid_t pid_ = -1;
  int answer_ = -1;
  std::string text_;
};

// The answer of one try; nothing after Ctrl-C. A save on the way starts it anew.
std::optional<std::string> answer_of(const Watched& watched, FolderWatch& folder) {
  auto attempt = std::make_unique<Try>(watched.command);
  while (stopped == 0) {
    std::array<pollfd, 2> polled{{{attempt->descriptor(), POLLIN, 0}, {folder.descriptor(), POLLIN, 0}}};
    if (::poll(polled.data(), polled.size(), kLookMs) <= 0) continue;
    if (polled[1].revents != 0 && folder.changed()) {
      attempt.reset();
      attempt = std::make_unique<Try>(watched.command);
      continue;
    }
    if (polled[0].revents == 0 || attempt->read()) continue;
    attempt->wait();
    if (stopped == 0) return attempt->text();
  }
  return std::nullopt;
}

void wait_for_save(FolderWatch& folder) {
  while (stopped == 0) {
    pollfd polled{folder.descriptor(), POLLIN, 0};
    if (::poll(&polled, 1, kLookMs) > 0 && folder.changed()) return;
  }
}

std::string clock_text() {
  const std::time_t now = std::time(nullptr);
  std::tm local{};
  ::localtime_r(&now, &local);
  char text[16];
  return {text, std::strftime(text, sizeof text, "%H:%M:%S", &local)};
}

// Says what each answer changed.
class Teller {
 public:
  explicit Teller(const Context& context) : context_(context) {}

  void tell(const std::string& answer) {
    const Json report = Json::parse(answer, nullptr, /*allow_exceptions=*/false);
    if (context_.json) {
      std::printf("%s\n", report.is_discarded() ? "{}" : report.dump().c_str());
    } else if (!report.is_object() || !report.contains("checks")) {
      say("this try gave no report\n" + error_text(report));
    } else if (is_refused(report)) {
      say("it does not run:\n" + refusal_text(report));
      broken_ = true;
    } else {
      tell_report(report);
    }
    std::fflush(stdout);
  }

 private:
  void tell_report(const Json& report) {
    if (!last_) {
      print_report(context_, report);
    } else {
      say((broken_ ? "it runs again: " : "") + changes_text(nlohmann::json(*last_), nlohmann::json(report)));
    }
    broken_ = false;
    last_ = report;
  }
  static std::string error_text(const Json& answer) {
    if (!answer.is_object() || !answer.contains("error")) return {};
    const Json& error = answer.at("error");
    std::string text;
    for (const char* key : {"what", "why", "fix"}) text += fmt::format("  {}: {}\n", key, error.value(key, ""));
    return text;
  }
  void say(const std::string& text) const {
    if (!context_.quiet) std::printf("%s  %s", clock_text().c_str(), text.c_str());
  }

  const Context& context_;
  std::optional<Json> last_;  // the last that ran
  bool broken_ = false;
};

}  // namespace

ExitCode watch(const Context& context, const Watched& watched) {
  const StopScope signals;
  FolderWatch folder(watched.folder, watched.files);
  Teller teller(context);
  if (!context.json && !context.quiet) {
    std::printf("watching %s; Ctrl-C ends\n", watched.folder.string().c_str());
    std::fflush(stdout);
  }
  while (stopped == 0) {
    const std::optional<std::string> answer = answer_of(watched, folder);
    if (!answer) break;
    teller.tell(*answer);
    wait_for_save(folder);
  }
  return kInterrupted;
}

}  // namespace labrig::app
