// A log of allocations as CSV, in RMM's format, and its replay against any allocator:
//
//   Thread,Time,Action,Pointer,Size,Stream
//   0,0,allocate,0x7e8000000000,4096,0
//   0,1,allocate failure,0x0,1099511627776,0
//   0,2,free,0x7e8000000000,4096,0
//
// Time is the number of the event and Thread counts threads in the order in which they first appear, so that equal
// single-threaded runs give equal files. Size is what was asked for. Logs of RMM itself, with times of the day, replay
// too.
#pragma once

#include <atomic>
#include <iosfwd>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>

#include "labrig/error.hpp"
#include "memory/adaptors.hpp"

namespace labrig {

class LABRIG_API LogAdaptor final : public AllocatorAdaptor {
 public:
  using AllocatorAdaptor::AllocatorAdaptor;
  Block* allocate(std::size_t bytes, std::uint16_t stream) override;
  void free(Block* block) override;
  // Writes the heading and every event from now on; null ends the log.
  void start(std::shared_ptr<std::ostream> output);

 private:
  void write(const char* action, const void* pointer, std::size_t bytes, std::uint16_t stream);

  std::atomic<bool> logging_{false};
  std::mutex mutex_;
  std::shared_ptr<std::ostream> output_;
  std::map<std::thread::id, std::size_t> threads_;
  std::uint64_t next_ = 0;
};

struct ReplayResult {
  std::size_t allocations = 0, frees = 0, failures = 0;  // failures: requests that ran out of memory
  std::size_t unknown_frees = 0;                         // of pointers that the log never allocated
};

// Does to `allocator` what the log did, with its own addresses; what the log leaves allocated is freed at the end.
// Fails with `bad-file`, the name and the line.
LABRIG_API Result<ReplayResult> replay_log(std::istream& log, std::string_view name, DeviceAllocator& allocator);

}  // namespace labrig
