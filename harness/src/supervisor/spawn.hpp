// Starts a worker: its own session, an empty stdin, stdout and stderr into one pipe, the channel and the card's memory
// on fixed descriptors, nothing else open, an environment that says nothing about this machine.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <optional>
#include <utility>

#include "backends/sim/machine.hpp"

namespace labrig::supervisor {

// A descriptor that closes itself.
class Descriptor {
 public:
  Descriptor() = default;
  explicit Descriptor(int fd) : fd_(fd) {}
  Descriptor(Descriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  ~Descriptor() { reset(); }
  int get() const { return fd_; }
  bool open() const { return fd_ >= 0; }
  void reset();

 private:
  int fd_ = -1;
};

// Readable when the process has ended; closed when there is no such process.
Descriptor process_descriptor(pid_t pid);

struct SpawnedWorker {
  pid_t pid = -1;
  Descriptor channel;  // our end; does not block
  Descriptor output;   // what the worker prints; does not block
  Descriptor ended;    // readable when the worker has ended
};

// The handles as the worker sees them: with the descriptor numbers that spawn_worker gives it.
sim::Handles handles_in_worker(const sim::Handles& ours);

// Throws Error `worker-not-started`.
SpawnedWorker spawn_worker(const std::filesystem::path& program, const std::optional<sim::Handles>& card);

}  // namespace labrig::supervisor
