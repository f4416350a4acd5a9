// Which launch it was. A card reports a mistake in a kernel at some later call, and from then on its context is dead.
// Launches are numbered from 1 on; the log knows which of a stream may still be running, so that an error can name
// them, and reads the note that a kernel left which found a bad index (fault.cuh). One object a card; safe to use from
// several host threads. While a call of the backend runs, its log is the calling thread's current one (thread-local, so
// that error_of() in check.cpp finds it). Read next: backend.cpp, for who tells it what.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <mutex>
#include <optional>
#include <string>

#include "device/backend.hpp"
#include "fault.hpp"
#include "handles.hpp"

namespace labrig::cuda {

class LaunchLog {
 public:
  // Takes pinned and device memory of the current card, which has number `card`.
  explicit LaunchLog(int card);
  ~LaunchLog();
  LaunchLog(const LaunchLog&) = delete;
  LaunchLog& operator=(const LaunchLog&) = delete;

  // Before a launch: its number, and where its kernels leave their note.
  FaultSite begin(Kernel kernel, StreamId stream);
  // The newest launch of the stream, or of each stream: to be given to completed() when they are known to have ended.
  std::uint64_t newest(StreamId stream) const;
  std::deque<std::uint64_t> newest() const;
  // The stream's launches up to this one, or those of each stream, ended without an error.
  void completed(StreamId stream, std::uint64_t launch);
  void completed(const std::deque<std::uint64_t>& by_stream);

  // After the runtime reported that a kernel went wrong. The first such error stays: every later one says which launch
  // killed the card.
  Error explain(cudaError_t code, const std::string& call);

  // The log of the backend whose call runs on this thread, or null.
  static LaunchLog* current();
  class Scope {
   public:
    explicit Scope(LaunchLog* log);
    ~Scope();
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;

   private:
    LaunchLog* before_;
  };

  // At the end of the process the runtime goes first; then there is nothing to give back.
  void abandon();

 private:
  struct Launch {
    std::uint64_t number = 0;
    Kernel kernel{};
    StreamId stream = 0;
  };
  static constexpr std::size_t kRemembered = 256;

  std::string suspects() const;
  Error first_error(cudaError_t code, const std::string& call) const;

  const int card_;
  FaultNote* note_ = nullptr;  // pinned; as the host sees it
  FaultSite site_;
  DeviceMemory taken_;

  mutable std::mutex lock_;
  std::uint64_t launches_ = 0;
  std::array<Launch, kRemembered> recent_;        // launch n at n % kRemembered
  std::deque<std::uint64_t> newest_, completed_;  // by stream
  std::optional<Error> death_;
};

// True for the codes after which the context of a card is of no use.
bool is_deadly(cudaError_t code);

}  // namespace labrig::cuda
