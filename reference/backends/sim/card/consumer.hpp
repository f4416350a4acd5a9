// The card's end of the ring: copies each record into private memory, has it carried out, and publishes how far it is.
// Sleeps when there is nothing to do. Read next: server.hpp.
#pragma once

#include <atomic>
#include <functional>

#include "card/server.hpp"

namespace labrig::sim {

class Consumer {
 public:
  Consumer(Server& server, const Regions& regions) : server_(server), regions_(regions) {}

  // Serves until the client is gone and its commands are done, or until it broke the protocol. `on_end` is called when
  // the service ends.
  void run(const std::function<void()>& on_end);
  // From another thread: the client sends no more.
  void client_is_gone();

 private:
  bool serve_one(std::uint64_t tail);
  void publish(const Answer& answer, std::uint32_t ticket);
  void publish_head();
  void wake_worker();
  void wait_for_work();
  void end_service();

  Server& server_;
  const Regions& regions_;
  std::uint64_t head_ = 0;       // the truth; the shared one is information
  std::uint64_t published_ = 0;  // the shared one
  std::atomic<bool> client_gone_{false};
};

}  // namespace labrig::sim
