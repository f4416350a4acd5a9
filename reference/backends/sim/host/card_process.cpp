// CardProcess: the supervisor's side of labrig-device.
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "host/card_thread.hpp"
#include "host/device_service.hpp"
#include "host/wire.hpp"

extern char** environ;

namespace labrig::sim {
namespace {

constexpr int kStartTimeoutMs = 20'000;

Error not_started(const std::filesystem::path& program, const std::string& why) {
  return Error("card-not-started", "cannot start the simulated card " + program.string(), why,
               "build labrig-device, and run labrig from the folder it was built or installed in");
}

// A child that has `fds` as its descriptors 3, 4, …; null as its input and output, and this process's errors.
int spawn(const std::filesystem::path& program, const std::array<int, 4>& fds) {
  // Copies out of the way: the wanted numbers may be taken by the very descriptors that go there.
  std::array<FileDescriptor, 4> copies;
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  for (std::size_t i = 0; i < fds.size(); ++i) {
    copies[i] = FileDescriptor(fcntl(fds[i], F_DUPFD_CLOEXEC, 16));
    posix_spawn_file_actions_adddup2(&actions, copies[i].get(), kControlFd + static_cast<int>(i));
  }
  std::string name = program.string();
  char* arguments[] = {name.data(), nullptr};
  pid_t pid = -1;
  const int failed = posix_spawn(&pid, name.c_str(), &actions, nullptr, arguments, environ);
  posix_spawn_file_actions_destroy(&actions);
  if (failed != 0) throw not_started(program, std::strerror(failed));
  return pid;
}

}  // namespace

struct CardProcess::State {
  Handles handles;
  FileDescriptor control;
  int pid = -1;

  ~State() {
    if (pid > 0) {
      kill(pid, SIGKILL);
      while (waitpid(pid, nullptr, 0) < 0 && errno == EINTR) {
      }
    }
    close_handles();
  }
  void close_handles() {
    for (int* fd : {&handles.device_page_fd, &handles.worker_page_fd, &handles.arena_fd}) {
      const FileDescriptor closing(std::exchange(*fd, -1));
    }
  }
};

CardProcess::CardProcess(const std::filesystem::path& program, const MachineOptions& options)
    : state_(std::make_unique<State>()) {
  check_options(options);
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) throw not_started(program, std::strerror(errno));
  state_->control = FileDescriptor(ends[0]);
  FileDescriptor theirs(ends[1]);
  state_->handles = make_handles(options, RegionFiles::create(options.limits.pinned_bytes));
  const Handles& handles = state_->handles;
  state_->pid = spawn(program, {theirs.get(), handles.device_page_fd, handles.worker_page_fd, handles.arena_fd});

  // Our copy of their end must be closed, or a card that dies would look as if it were thinking.
  theirs.reset();
  send_message(state_->control.get(), MessageKind::start, encode(options));
  const auto answer = receive_message(state_->control.get(), kStartTimeoutMs);
  if (!answer) throw not_started(program, "it ended, or did not answer within 20 s");
  if (answer->kind == MessageKind::failed) throw decode_error(answer->body);
}

CardProcess::~CardProcess() = default;

const Handles& CardProcess::handles() const { return state_->handles; }

void CardProcess::worker_started(int worker_pid) {
  const FileDescriptor worker(static_cast<int>(syscall(SYS_pidfd_open, worker_pid, 0)));
  if (worker.get() < 0) {
    throw Error("no-such-worker", "cannot watch the worker of the simulated card", std::strerror(errno),
                "Linux 5.3 or newer is needed");
  }
  send_message(state_->control.get(), MessageKind::watch, {}, worker.get());
  state_->close_handles();
}

std::optional<Report> CardProcess::report(int timeout_ms) {
  if (!send_message(state_->control.get(), MessageKind::report_request)) return std::nullopt;
  const auto answer = receive_message(state_->control.get(), timeout_ms);
  if (!answer || answer->kind != MessageKind::report) return std::nullopt;
  return decode_report(answer->body);
}

int CardProcess::pid() const { return state_->pid; }

}  // namespace labrig::sim
