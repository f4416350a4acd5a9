#include "supervisor/orphans.hpp"

#include <sys/prctl.h>
#include <sys/wait.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <vector>

namespace labrig::supervisor {

namespace {

std::vector<pid_t> children_of_this_process() {
  std::vector<pid_t> children;
  std::error_code ignored;
  for (const auto& thread : std::filesystem::directory_iterator("/proc/self/task", ignored)) {
    std::ifstream list(thread.path() / "children");
    for (pid_t child; list >> child;) children.push_back(child);
  }
  return children;
}

}  // namespace

Orphans::Orphans() { ::prctl(PR_SET_CHILD_SUBREAPER, 1); }

void Orphans::adopt(const std::function<std::set<pid_t>()>& start) {
  const std::shared_lock starting(starting_);
  const std::set<pid_t> children = start();
  const std::lock_guard lock(known_mutex_);
  known_.insert(children.begin(), children.end());
}

void Orphans::forget(pid_t child) {
  const std::lock_guard lock(known_mutex_);
  known_.erase(child);
}

void Orphans::sweep() {
  const std::unique_lock nobody_starts(starting_);
  for (bool found = true; found;) {
    found = false;
    for (const pid_t child : children_of_this_process()) {
      {
        const std::lock_guard lock(known_mutex_);
        if (known_.contains(child)) continue;
      }
      // Killing one can hand its children to us: look again.
      found = true;
      ::kill(child, SIGKILL);
      ::waitpid(child, nullptr, 0);
    }
  }
}

}  // namespace labrig::supervisor
