// Runs a program to its end, within limits, and keeps what it printed: the compiler, and the worker that tries a
// plugin.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

namespace labrig::build {

struct RunOptions {
  std::filesystem::path folder;  // where it runs; empty: here
  int wall_ms = 120'000;         // then its whole process group is killed
  int cpu_s = 60;                // of each process
  std::size_t memory_bytes = 0;  // address space of each process; 0: not limited (sanitizers need terabytes)
  std::size_t file_bytes = 0;    // of each file it writes; 0: not limited (a simulated card's memory is a file)
  std::size_t output_bytes = 256 * 1024;  // stdout and stderr together; the rest is read and dropped
  bool channel = false;                   // also keep what it writes to descriptor 3
};

// Ctrl-C and its like become a flag, for a scope, so that what was begun can be cleaned up; scopes may be nested.
// Signals that somebody else handles stay theirs. In one thread at a time.
class StopScope {
 public:
  StopScope();
  ~StopScope();
  StopScope(const StopScope&) = delete;
  StopScope& operator=(const StopScope&) = delete;
  // The signal that came since the outermost scope began; 0: none.
  static int signal();
};

struct RunResult {
  bool started = false;    // false: no such program, or it may not be run
  bool timed_out = false;  // killed at wall_ms
  int exit_code = -1;      // when it exited by itself
  int signal = 0;          // when a signal ended it
  int interrupted = 0;     // inside a StopScope: the signal that came; the program was killed
  std::string output;      // stdout and stderr, as they came
  bool output_cut = false;
  std::string channel;

  bool succeeded() const { return started && !timed_out && signal == 0 && exit_code == 0; }
  // "exit code 3", "signal 11 (Segmentation fault)", "the time limit"
  std::string ending() const;
};

// `arguments[0]` is the program: a path, or a name that is looked up in PATH. stdin is empty. The program gets this
// process's environment with LC_ALL=C, so that its messages can be read by us. A signal that would end this process
// ends the program and all that it started first; outside of a StopScope it then ends this process.
RunResult run_program(const std::vector<std::string>& arguments, const RunOptions& options);

}  // namespace labrig::build
