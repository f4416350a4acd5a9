#include "supervisor/spawn.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "build/lesser_user.hpp"
#include "channel/frame.hpp"
#include "labrig/error.hpp"

namespace labrig::supervisor {

namespace {

// In the worker: 0-2 the usual, 3 the channel, then the card's memory.
constexpr int kFirstCardDescriptor = channel::kDescriptor + 1;
constexpr int kCardDescriptors = 3;
// Ours are kept above this, so that no dup2 in the child overwrites one that is still to be moved.
constexpr int kAboveTargets = 16;

Error not_started(const std::string& why) {
  return Error(
      "worker-not-started", "the program labrig-worker could not be started", why,
      "check that labrig is installed completely (`labrig doctor`) and that the machine has room for a process");
}

Descriptor above_targets(int fd) {
  const int copy = ::fcntl(fd, F_DUPFD_CLOEXEC, kAboveTargets);
  if (copy < 0) throw not_started(std::strerror(errno));
  return Descriptor(copy);
}

// What the child does between fork and exec, as posix_spawn wants it.
class SpawnPlan {
 public:
  SpawnPlan() {
    ::posix_spawn_file_actions_init(&actions_);
    ::posix_spawnattr_init(&attributes_);
    ::posix_spawnattr_setflags(&attributes_, POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    sigset_t none, all;
    ::sigemptyset(&none);
    ::sigfillset(&all);
    ::posix_spawnattr_setsigmask(&attributes_, &none);
    ::posix_spawnattr_setsigdefault(&attributes_, &all);
  }
  ~SpawnPlan() {
    ::posix_spawn_file_actions_destroy(&actions_);
    ::posix_spawnattr_destroy(&attributes_);
  }
  SpawnPlan(const SpawnPlan&) = delete;
  SpawnPlan& operator=(const SpawnPlan&) = delete;

  void empty_stdin() { ::posix_spawn_file_actions_addopen(&actions_, 0, "/dev/null", O_RDONLY, 0); }
  void give(int ours, int theirs) { ::posix_spawn_file_actions_adddup2(&actions_, ours, theirs); }
  void close_from(int first) { ::posix_spawn_file_actions_addclosefrom_np(&actions_, first); }

  pid_t start(const std::filesystem::path& program) {
    std::vector<std::string> environment = {"PATH=/usr/bin:/bin", "LC_ALL=C", "OPENBLAS_NUM_THREADS=1",
                                            "OMP_NUM_THREADS=1"};
    for (const char* name : {"ASAN_OPTIONS", "UBSAN_OPTIONS", "TSAN_OPTIONS"})
      if (const char* value = std::getenv(name)) environment.push_back(fmt::format("{}={}", name, value));
    std::vector<char*> pointers;
    for (std::string& entry : environment) pointers.push_back(entry.data());
    pointers.push_back(nullptr);
    std::vector<std::string> command = build::as_lesser_user({program.string()});
    std::vector<char*> arguments;
    for (std::string& word : command) arguments.push_back(word.data());
    arguments.push_back(nullptr);
    pid_t pid = -1;
    const int error =
        ::posix_spawn(&pid, arguments.front(), &actions_, &attributes_, arguments.data(), pointers.data());
    if (error != 0) throw not_started(fmt::format("{}: {}", command.front(), std::strerror(error)));
    return pid;
  }

 private:
  posix_spawn_file_actions_t actions_;
  posix_spawnattr_t attributes_;
};

void make_non_blocking(int fd) { ::fcntl(fd, F_SETFL, ::fcntl(fd, F_GETFL) | O_NONBLOCK); }

}  // namespace

void Descriptor::reset() {
  if (fd_ >= 0) ::close(fd_);
  fd_ = -1;
}

// Not through <sys/pidfd.h>: glibc 2.36 forgot extern "C" there.
Descriptor process_descriptor(pid_t pid) { return Descriptor(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0))); }

sim::Handles handles_in_worker(const sim::Handles& ours) {
  sim::Handles theirs = ours;
  theirs.device_page_fd = kFirstCardDescriptor;
  theirs.worker_page_fd = kFirstCardDescriptor + 1;
  theirs.arena_fd = kFirstCardDescriptor + 2;
  return theirs;
}

SpawnedWorker spawn_worker(const std::filesystem::path& program, const std::optional<sim::Handles>& card) {
  SpawnedWorker worker;
  int pair[2], pipe[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0) throw not_started(std::strerror(errno));
  worker.channel = Descriptor(pair[0]);
  const Descriptor their_channel(pair[1]);
  if (::pipe2(pipe, O_CLOEXEC) != 0) throw not_started(std::strerror(errno));
  worker.output = Descriptor(pipe[0]);
  const Descriptor their_output(pipe[1]);
  make_non_blocking(worker.channel.get());
  make_non_blocking(worker.output.get());

  SpawnPlan plan;
  std::vector<Descriptor> kept;
  const auto give = [&](int ours, int theirs) {
    kept.push_back(above_targets(ours));
    plan.give(kept.back().get(), theirs);
  };
  plan.empty_stdin();
  give(their_output.get(), 1);
  give(their_output.get(), 2);
  give(their_channel.get(), channel::kDescriptor);
  if (card) {
    const sim::Handles theirs = handles_in_worker(*card);
    give(card->device_page_fd, theirs.device_page_fd);
    give(card->worker_page_fd, theirs.worker_page_fd);
    give(card->arena_fd, theirs.arena_fd);
  }
  plan.close_from(card ? kFirstCardDescriptor + kCardDescriptors : kFirstCardDescriptor);
  worker.pid = plan.start(program);
  worker.ended = process_descriptor(worker.pid);
  if (!worker.ended.open()) {
    ::kill(worker.pid, SIGKILL);
    throw not_started(fmt::format("it cannot be watched: {}", std::strerror(errno)));
  }
  return worker;
}

}  // namespace labrig::supervisor
