// labrig-supervisor: one process a run. Holds seeds, inputs and expected values, starts cards and workers, judges. It
// loads the lab's judge and never a submission. Started by labrig (client.cpp) with a job on kJobDescriptor.
#include <fcntl.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <csignal>
#include <cstdio>
#include <exception>
#include <mutex>
#include <string>
#include <thread>

#include "labrig/error.hpp"
#include "supervisor/job.hpp"
#include "supervisor/run_job.hpp"

using namespace labrig;
using Json = nlohmann::ordered_json;

namespace {

int cancel_pipe[2] = {-1, -1};

void on_signal(int) {
  const char byte = 0;
  [[maybe_unused]] const ssize_t ignored = ::write(cancel_pipe[1], &byte, 1);
}

std::string read_all(int descriptor) {
  std::string text;
  char chunk[65536];
  for (;;) {
    const ssize_t count = ::read(descriptor, chunk, sizeof chunk);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return text;
    text.append(chunk, static_cast<std::size_t>(count));
  }
}

void tell(const Json& event) {
  static std::mutex one_at_a_time;
  const std::lock_guard lock(one_at_a_time);
  const std::string line = event.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
  for (std::size_t at = 0; at < line.size();) {
    const ssize_t count = ::write(supervisor::kEventDescriptor, line.data() + at, line.size() - at);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return on_signal(0);  // nobody listens any more
    at += static_cast<std::size_t>(count);
  }
}

int run() {
  // Cleaned up before labrig's end is noticed in any other way.
  ::prctl(PR_SET_PDEATHSIG, SIGTERM);
  for (const int fd : {supervisor::kJobDescriptor, supervisor::kEventDescriptor}) ::fcntl(fd, F_SETFD, FD_CLOEXEC);
  if (::pipe2(cancel_pipe, O_CLOEXEC | O_NONBLOCK) != 0) return 5;
  struct sigaction action{};
  action.sa_handler = on_signal;
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) ::sigaction(signal, &action, nullptr);
  ::signal(SIGPIPE, SIG_IGN);

  const std::jthread alive([](const std::stop_token& stop) {
    std::mutex mutex;
    std::condition_variable_any ended;
    std::unique_lock lock(mutex);
    while (!ended.wait_for(lock, stop, std::chrono::milliseconds(supervisor::kAliveMs), [] { return false; }) &&
           !stop.stop_requested())
      tell({{"event", "alive"}});
  });
  const supervisor::Job job = supervisor::job_from(Json::parse(read_all(supervisor::kJobDescriptor)));
  supervisor::run_job(job, cancel_pipe[0], [](std::size_t index, const grade::CaseOutcome& outcome) {
    tell({{"event", "case"}, {"index", index}, {"outcome", grade::to_json(outcome)}});
  });
  tell({{"event", "end"}});
  return 0;
}

}  // namespace

int main() {
  try {
    return run();
  } catch (const Error& error) {
    tell({{"event", "error"},
          {"code", error.code()},
          {"what", error.what()},
          {"why", error.why()},
          {"fix", error.fix()}});
  } catch (const std::exception& error) {
    std::fprintf(stderr, "error: labrig-supervisor failed: %s\n", error.what());
  }
  return 5;
}
