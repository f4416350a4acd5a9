// A terminal of its own for a program, and somebody who types.
#pragma once

#include <pty.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <string>
#include <vector>

namespace labrig::test {

class Terminal {
 public:
  // `command` is for sh.
  explicit Terminal(const std::string& command) {
    winsize size{};
    size.ws_row = 50, size.ws_col = 200;
    child_ = forkpty(&master_, nullptr, nullptr, &size);
    if (child_ == 0) {
      execl("/bin/sh", "sh", "-c", command.c_str(), nullptr);
      _exit(127);
    }
  }
  ~Terminal() {
    close(master_);
    kill(child_, SIGKILL);
    waitpid(child_, nullptr, 0);
  }
  Terminal(const Terminal&) = delete;
  Terminal& operator=(const Terminal&) = delete;

  void type(const std::string& keys) {
    if (write(master_, keys.data(), keys.size()) != static_cast<ssize_t>(keys.size())) seen_ += "(cannot type)";
  }
  // What is shown from here on until this is, or until the program ends.
  std::string read_until(const std::string& mark) {
    std::string text;
    char buffer[4096];
    for (ssize_t n = 0; mark.empty() || text.find(mark) == std::string::npos;) {
      if ((n = read(master_, buffer, sizeof buffer)) <= 0) break;
      text.append(buffer, static_cast<std::size_t>(n));
    }
    return seen_ + text;
  }
  std::string read_all() { return read_until(""); }

 private:
  int master_ = -1;
  pid_t child_ = -1;
  std::string seen_;
};

}  // namespace labrig::test
