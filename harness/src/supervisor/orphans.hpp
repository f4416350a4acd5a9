// Processes that a submission leaves behind. The supervisor is the subreaper of everything below it, so a child whose
// parent has ended becomes the supervisor's own, wherever it fled to with setsid(). Children that the supervisor did
// not start itself are killed.
#pragma once

#include <sys/types.h>

#include <functional>
#include <mutex>
#include <set>
#include <shared_mutex>

namespace labrig::supervisor {

class Orphans {
 public:
  // Makes this process the subreaper.
  Orphans();

  // Runs `start`, which starts children and returns their ids. No sweep takes place meanwhile.
  void adopt(const std::function<std::set<pid_t>()>& start);
  // A child has been waited for.
  void forget(pid_t child);
  // Kills and reaps every child that was not adopted, until there is none.
  void sweep();

 private:
  std::shared_mutex starting_;  // shared: starting children; exclusive: sweeping
  std::mutex known_mutex_;
  std::set<pid_t> known_;
};

}  // namespace labrig::supervisor
