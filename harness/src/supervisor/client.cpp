#include "supervisor/client.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <optional>

#include "labrig/error.hpp"
#include "supervisor/spawn.hpp"

extern char** environ;

namespace labrig::supervisor {

using Json = nlohmann::ordered_json;

namespace {

Error not_started(const std::string& why) {
  return Error("supervisor-not-started", "the program labrig-supervisor could not be started", why,
               "check that labrig is installed completely: run `labrig doctor`");
}

// Set by Ctrl-C and its like while a run is under way.
volatile std::sig_atomic_t interrupted_by = 0;

// Turns the signals that end a program into a flag, for a scope.
class SignalScope {
 public:
  SignalScope() {
    interrupted_by = 0;
    struct sigaction action{};
    action.sa_handler = [](int signal) { interrupted_by = signal; };
    for (std::size_t i = 0; i < kSignals.size(); ++i) ::sigaction(kSignals[i], &action, &before_[i]);
  }
  ~SignalScope() {
    for (std::size_t i = 0; i < kSignals.size(); ++i) ::sigaction(kSignals[i], &before_[i], nullptr);
  }
  SignalScope(const SignalScope&) = delete;
  SignalScope& operator=(const SignalScope&) = delete;

 private:
  static constexpr std::array kSignals = {SIGINT, SIGTERM, SIGHUP};
  std::array<struct sigaction, kSignals.size()> before_{};
};

class Supervisor {
 public:
  explicit Supervisor(const std::filesystem::path& program) {
    int job[2], events[2];
    if (::pipe2(job, O_CLOEXEC) != 0) throw not_started(std::strerror(errno));
    job_ = Descriptor(job[1]);
    const Descriptor their_job(job[0]);
    if (::pipe2(events, O_CLOEXEC) != 0) throw not_started(std::strerror(errno));
    events_ = Descriptor(events[0]);
    const Descriptor their_events(events[1]);
    start(program, their_job.get(), their_events.get());
  }
  ~Supervisor() { end(SIGKILL); }
  Supervisor(const Supervisor&) = delete;
  Supervisor& operator=(const Supervisor&) = delete;

  void give(const Job& job) {
    const std::string text = to_json(job).dump();
    for (std::size_t at = 0; at < text.size();) {
      const ssize_t count = ::write(job_.get(), text.data() + at, text.size() - at);
      if (count < 0 && errno == EINTR) continue;
      if (count < 0) break;  // it has died: the end of its events tells
      at += static_cast<std::size_t>(count);
    }
    job_.reset();
  }

  // The next event; nothing at the end, after an interruption, or when it is hung: somebody stopped it. Silence is
  // counted in polls, not by the clock, so that a pause of the whole machine is none.
  std::optional<Json> next() {
    for (int silence_ms = 0; silence_ms < kSilenceMs;) {
      if (const std::size_t end = buffer_.find('\n', searched_); end != std::string::npos) {
        Json event = Json::parse(buffer_.substr(0, end));
        buffer_.erase(0, end + 1);
        searched_ = 0;
        if (event.at("event") != "alive") return event;
        continue;
      }
      searched_ = buffer_.size();
      constexpr int kPollMs = 100;
      pollfd polled{events_.get(), POLLIN, 0};
      ::poll(&polled, 1, kPollMs);
      if (interrupted_by != 0) return std::nullopt;
      silence_ms = polled.revents == 0 ? silence_ms + kPollMs : 0;
      if (polled.revents == 0) continue;
      char chunk[65536];
      const ssize_t count = ::read(events_.get(), chunk, sizeof chunk);
      if (count < 0 && errno == EINTR) continue;
      if (count <= 0) return std::nullopt;
      buffer_.append(chunk, static_cast<std::size_t>(count));
    }
    return std::nullopt;
  }

  // Asks it to clean up and end; after three seconds it is killed, and its children die with it.
  void interrupt() {
    ::kill(pid_, SIGTERM);
    for (int i = 0; i < 300; ++i) {
      if (::waitpid(pid_, nullptr, WNOHANG) != 0) {
        pid_ = -1;
        return;
      }
      ::usleep(10'000);
    }
    end(SIGKILL);
  }

 private:
  void start(const std::filesystem::path& program, int job, int events) {
    posix_spawn_file_actions_t actions;
    ::posix_spawn_file_actions_init(&actions);
    // First out of the way of the targets, then to their places.
    const Descriptor high_job(::fcntl(job, F_DUPFD_CLOEXEC, 16)), high_events(::fcntl(events, F_DUPFD_CLOEXEC, 16));
    ::posix_spawn_file_actions_adddup2(&actions, 2, 1);  // what a judge prints is not labrig's answer
    ::posix_spawn_file_actions_adddup2(&actions, high_job.get(), kJobDescriptor);
    ::posix_spawn_file_actions_adddup2(&actions, high_events.get(), kEventDescriptor);
    ::posix_spawn_file_actions_addclosefrom_np(&actions, kEventDescriptor + 1);
    std::vector<std::string> environment;
    for (char** entry = environ; *entry != nullptr; ++entry)
      if (!std::string_view(*entry).starts_with("OPENBLAS_NUM_THREADS=")) environment.emplace_back(*entry);
    environment.emplace_back("OPENBLAS_NUM_THREADS=1");
    std::vector<char*> pointers;
    for (std::string& entry : environment) pointers.push_back(entry.data());
    pointers.push_back(nullptr);
    std::string name = program.string();
    char* arguments[] = {name.data(), nullptr};
    const int error = ::posix_spawn(&pid_, name.c_str(), &actions, nullptr, arguments, pointers.data());
    ::posix_spawn_file_actions_destroy(&actions);
    if (error != 0) {
      pid_ = -1;
      throw not_started(fmt::format("{}: {}", name, std::strerror(error)));
    }
  }

  void end(int signal) {
    if (pid_ <= 0) return;
    events_.reset();
    // Normally it is ending by itself: give it the time that a clean end takes.
    for (int i = 0; i < 200; ++i) {
      if (::waitpid(pid_, nullptr, WNOHANG) != 0) return void(pid_ = -1);
      ::usleep(1000);
    }
    ::kill(pid_, signal);
    ::waitpid(pid_, nullptr, 0);
    pid_ = -1;
  }

  pid_t pid_ = -1;
  Descriptor job_, events_;
  std::string buffer_;
  std::size_t searched_ = 0;
};

Error error_from(const Json& event) {
  return Error(event.at("code"), event.at("what"), event.at("why"), event.at("fix"));
}

// Runs the cases whose outcome is still open. True when the supervisor came to its end.
bool run_open_cases(const Job& job, std::vector<std::optional<grade::CaseOutcome>>& outcomes,
                    const std::function<void(std::size_t)>& case_ended) {
  Job open = job;
  open.cases.clear();
  std::vector<std::size_t> places;
  for (std::size_t i = 0; i < outcomes.size(); ++i) {
    if (outcomes[i]) continue;
    open.cases.push_back(job.cases[i]);
    places.push_back(i);
  }
  Supervisor supervisor(job.programs / "labrig-supervisor");
  supervisor.give(open);
  while (const std::optional<Json> event = supervisor.next()) {
    const std::string kind = event->at("event");
    if (kind == "error") throw error_from(*event);
    if (kind == "end") return true;
    const std::size_t place = places.at(event->at("index").get<std::size_t>());
    outcomes[place] = grade::outcome_from(event->at("outcome"));
    case_ended(place);
  }
  if (interrupted_by != 0) supervisor.interrupt();
  return false;
}

}  // namespace

RunResult run_supervised(const Job& job, const std::function<void(std::size_t, std::size_t)>& progress,
                         const std::function<void(std::size_t, const grade::CaseOutcome&)>& case_ended) {
  const SignalScope signals;
  ::signal(SIGPIPE, SIG_IGN);
  std::vector<std::optional<grade::CaseOutcome>> outcomes(job.cases.size());
  std::size_t done = 0;
  const auto ended = [&](std::size_t place) {
    progress(++done, job.cases.size());
    if (case_ended) case_ended(place, *outcomes[place]);
  };
  for (int tries = 0; tries < 2 && interrupted_by == 0; ++tries)
    if (run_open_cases(job, outcomes, ended)) break;

  RunResult result;
  result.interrupted = interrupted_by != 0;
  for (std::size_t i = 0; i < outcomes.size(); ++i) {
    if (!outcomes[i]) {
      grade::CaseOutcome lost;
      lost.plan = job.cases[i];
      lost.status = result.interrupted ? grade::Status::not_run : grade::Status::fault;
      lost.reason = result.interrupted ? grade::Reason{"interrupted", "the run was interrupted"}
                                       : grade::Reason{"supervisor-died", "the process that judges the case died"};
      outcomes[i] = std::move(lost);
    }
    result.outcomes.push_back(std::move(*outcomes[i]));
  }
  return result;
}

}  // namespace labrig::supervisor
