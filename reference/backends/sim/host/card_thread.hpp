// The card as a thread of this process: the same server and the same ring as in a process of its own, for programs that
// are easy to debug. Read next: in_process.cpp, ../card/consumer.hpp.
#pragma once

#include <memory>
#include <thread>

#include "card/consumer.hpp"
#include "card/server.hpp"
#include "machine.hpp"
#include "protocol/regions.hpp"

namespace labrig::sim {

// Throws Error `bad-machine` when the options make no machine.
void check_options(const MachineOptions& options);
// What a worker has to know of a machine; the descriptors are those of `files`, which gives them away.
Handles make_handles(const MachineOptions& options, RegionFiles files);

class CardThread {
 public:
  explicit CardThread(const MachineOptions& options);
  // Its client must be gone: what is left in the ring is carried out first.
  ~CardThread();
  CardThread(const CardThread&) = delete;
  CardThread& operator=(const CardThread&) = delete;

  // For the one client. Its descriptors belong to the caller.
  Handles take_handles() { return std::exchange(handles_, {}); }
  Report report() const { return server_->report(); }

 private:
  Handles handles_;
  Regions regions_;
  std::unique_ptr<Server> server_;
  std::unique_ptr<Consumer> consumer_;
  std::thread thread_;
};

}  // namespace labrig::sim
