#include "build/run_program.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include <csignal>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <utility>

namespace labrig::build {

namespace {

using Clock = std::chrono::steady_clock;

volatile std::sig_atomic_t stopped_by = 0;
int open_scopes = 0;
constexpr std::array kStopSignals = {SIGINT, SIGTERM, SIGHUP};
std::array<struct sigaction, kStopSignals.size()> actions_before{};

constexpr int kChannelDescriptor = 3;
constexpr std::size_t kLongestChannel = std::size_t{1} << 20;

// Both ends of a pipe, closed with it.
class Pipe {
 public:
  Pipe() {
    if (pipe2(ends_.data(), O_CLOEXEC) != 0) ends_ = {-1, -1};
  }
  ~Pipe() {
    close_end(0);
    close_end(1);
  }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;
  bool ok() const { return ends_[0] >= 0; }
  int reader() const { return ends_[0]; }
  int writer() const { return ends_[1]; }
  void close_reader() { close_end(0); }
  void close_writer() { close_end(1); }

 private:
  void close_end(std::size_t end) {
    if (ends_[end] >= 0) close(ends_[end]);
    ends_[end] = -1;
  }
  std::array<int, 2> ends_{};
};

void limit(int resource, rlim_t value) {
  const rlimit both{value, value};
  setrlimit(static_cast<__rlimit_resource>(resource), &both);
}

// Between fork and exec: system calls only. Tells the parent through `failure` when exec does not work.
[[noreturn]] void become(char* const* arguments, char* const* environment, const RunOptions& options, int output,
                         int channel, int failure) {
  setpgid(0, 0);
  for (const int number : kStopSignals) ::signal(number, SIG_DFL);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  const int empty = open("/dev/null", O_RDONLY);
  // Out of the way first: a descriptor of ours may have one of the numbers that are given away here.
  output = fcntl(output, F_DUPFD_CLOEXEC, 10);
  channel = channel >= 0 ? fcntl(channel, F_DUPFD_CLOEXEC, 10) : -1;
  failure = fcntl(failure, F_DUPFD_CLOEXEC, 10);
  dup2(empty, 0);
  dup2(output, 1);
  dup2(output, 2);
  if (channel >= 0) dup2(channel, kChannelDescriptor);
  limit(RLIMIT_CPU, static_cast<rlim_t>(options.cpu_s));
  limit(RLIMIT_CORE, 0);
  if (options.file_bytes > 0) limit(RLIMIT_FSIZE, options.file_bytes);
  if (options.memory_bytes > 0) limit(RLIMIT_AS, options.memory_bytes);
  if (options.folder.empty() || chdir(options.folder.c_str()) == 0) execvpe(arguments[0], arguments, environment);
  const char sign = 1;
  [[maybe_unused]] const ssize_t ignored = write(failure, &sign, 1);
  _exit(127);
}

// Reads what is there; false at the end of the stream.
bool take(int descriptor, std::string& into, std::size_t most, bool& cut) {
  char buffer[16384];
  const ssize_t got = read(descriptor, buffer, sizeof buffer);
  if (got < 0) return errno == EINTR || errno == EAGAIN;
  if (got == 0) return false;
  const std::size_t room = most > into.size() ? most - into.size() : 0;
  into.append(buffer, std::min(room, static_cast<std::size_t>(got)));
  cut = cut || static_cast<std::size_t>(got) > room;
  return true;
}

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> result;
  for (std::string& text : texts) result.push_back(text.data());
  result.push_back(nullptr);
  return result;
}

std::vector<std::string> plain_environment() {
  std::vector<std::string> result;
  for (char** entry = environ; *entry; ++entry)
    if (std::strncmp(*entry, "LC_", 3) != 0 && std::strncmp(*entry, "LANG", 4) != 0) result.emplace_back(*entry);
  result.emplace_back("LC_ALL=C");
  return result;
}

// Collects output until both streams end or the time is up. A grandchild that keeps a pipe open must not keep us: once
// the program itself has ended, only what is already in the pipes is read.
void collect(pid_t child, Pipe& output, Pipe& channel, const RunOptions& options, RunResult& result, int& status) {
  const auto deadline = Clock::now() + std::chrono::milliseconds(options.wall_ms);
  bool output_open = true, channel_open = options.channel, ended = false, ignored = false;
  for (;;) {
    pollfd watched[2] = {{output_open ? output.reader() : -1, POLLIN, 0},
                         {channel_open ? channel.reader() : -1, POLLIN, 0}};
    const int ready = poll(watched, 2, ended ? 0 : 20);
    if (watched[0].revents) output_open = take(output.reader(), result.output, options.output_bytes, result.output_cut);
    if (watched[1].revents) channel_open = take(channel.reader(), result.channel, kLongestChannel, ignored);
    if (ended && ready <= 0) return;
    if (!ended) ended = waitpid(child, &status, WNOHANG) == child;
    if (!ended && (stopped_by != 0 || Clock::now() > deadline)) {
      result.timed_out = stopped_by == 0;
      kill(-child, SIGKILL);
      kill(child, SIGKILL);
      waitpid(child, &status, 0);
      ended = true;
    }
  }
}

}  // namespace

StopScope::StopScope() {
  if (open_scopes++ > 0) return;
  stopped_by = 0;
  struct sigaction action{};
  action.sa_handler = [](int number) { stopped_by = number; };
  for (std::size_t i = 0; i < kStopSignals.size(); ++i) {
    ::sigaction(kStopSignals[i], nullptr, &actions_before[i]);
    if (actions_before[i].sa_handler == SIG_DFL) ::sigaction(kStopSignals[i], &action, nullptr);
  }
}

StopScope::~StopScope() {
  if (--open_scopes > 0) return;
  for (std::size_t i = 0; i < kStopSignals.size(); ++i) ::sigaction(kStopSignals[i], &actions_before[i], nullptr);
}

int StopScope::signal() { return stopped_by; }

std::string RunResult::ending() const {
  if (!started) return "it could not be started";
  if (timed_out) return "the time limit";
  if (signal != 0) return "signal " + std::to_string(signal) + " (" + strsignal(signal) + ")";
  return "exit code " + std::to_string(exit_code);
}

RunResult run_program(const std::vector<std::string>& arguments, const RunOptions& options) {
  RunResult result;
  Pipe output, channel, failure;
  if (!output.ok() || !channel.ok() || !failure.ok()) return result;
  std::vector<std::string> texts = arguments, environment = plain_environment();
  const std::vector<char*> argv = pointers(texts), envp = pointers(environment);
  std::optional<StopScope> signals(std::in_place);
  const pid_t child = fork();
  if (child == 0)
    become(argv.data(), envp.data(), options, output.writer(), options.channel ? channel.writer() : -1,
           failure.writer());
  output.close_writer();
  channel.close_writer();
  failure.close_writer();
  if (child < 0) return result;
  setpgid(child, child);  // in both processes, so that it is done before anybody relies on it

  char sign = 0;
  result.started = read(failure.reader(), &sign, 1) == 0;  // ends when exec closes the other side
  int status = 0;
  collect(child, output, channel, options, result, status);
  kill(-child, SIGKILL);  // what the program left behind
  if (WIFEXITED(status)) result.exit_code = WEXITSTATUS(status);
  if (WIFSIGNALED(status)) result.signal = WTERMSIG(status);
  result.interrupted = StopScope::signal();
  signals.reset();
  if (result.interrupted != 0 && open_scopes == 0) ::raise(result.interrupted);  // nobody else will look at it
  return result;
}

}  // namespace labrig::build
