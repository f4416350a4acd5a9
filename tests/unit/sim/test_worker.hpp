// A worker process on a card process, started as a supervisor would.
#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <string>
#include <vector>

#include "handles_word.hpp"

extern char** environ;

namespace labrig::sim {

struct WorkerEnd {
  int status = 0;
  std::string errors;  // what it printed on stderr
};

class Worker {
 public:
  Worker(CardProcess& card, const std::string& program, std::uint64_t seed = 0, const char* spin = nullptr) {
    // Without FD_CLOEXEC, above all numbers that the child opens by itself.
    const Handles& handles = card.handles();
    std::array<int, 3> fds = {handles.device_page_fd, handles.worker_page_fd, handles.arena_fd};
    for (int& fd : fds) fd = fcntl(fd, F_DUPFD, 20);
    std::vector<std::string> words = {LABRIG_TEST_WORKER, program, std::to_string(seed), packed(handles, fds)};
    std::vector<char*> arguments;
    for (std::string& word : words) arguments.push_back(word.data());
    arguments.push_back(nullptr);

    int errors[2];
    EXPECT_EQ(pipe2(errors, O_CLOEXEC), 0);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, errors[1], STDERR_FILENO);
    if (spin != nullptr) setenv("LABRIG_SIM_SPIN", spin, 1);
    EXPECT_EQ(posix_spawn(&pid_, arguments[0], &actions, nullptr, arguments.data(), environ), 0);
    unsetenv("LABRIG_SIM_SPIN");
    posix_spawn_file_actions_destroy(&actions);
    for (const int fd : fds) close(fd);
    close(errors[1]);
    errors_ = errors[0];
    card.worker_started(pid_);
  }
  WorkerEnd wait() {
    WorkerEnd end;
    char buffer[4096];
    for (ssize_t got; (got = read(errors_, buffer, sizeof buffer)) > 0;)
      end.errors.append(buffer, static_cast<std::size_t>(got));
    close(errors_);
    waitpid(pid_, &end.status, 0);
    return end;
  }

 private:
  pid_t pid_ = -1;
  int errors_ = -1;
};

}  // namespace labrig::sim
