// What happened, in order: every transfer, launch, synchronisation, hidden copy and allocation of this process, with
// its cause. For charts and for looking around; on the simulated card the graded counters are the card's own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "labrig/device.hpp"
#include "labrig/export.hpp"

namespace labrig::trace {

enum class Kind : std::uint8_t { upload, download, device_copy, host_copy, launch, sync, allocate, release };

// Why a synchronisation or copy happened.
enum class Cause : std::uint8_t {
  asked,     // the program called for it
  value,     // a value was read on the host: item(), bool, print
  copy,      // a blocking copy
  hidden,    // a copy that no line of the program asked for (a non-contiguous operand, a conversion)
  implicit,  // the driver: allocation, pinning
};

struct Event {
  Kind kind{};
  Cause cause{};
  Device device;
  std::uint16_t stream = 0;
  std::size_t bytes = 0;
  std::int64_t time_ns = 0;  // host clock at the call, from the start of the recording
  std::string name;          // the operator, or the tensor
};

// Records while it lives. One at a time a process; the newest wins. At most `capacity` events are kept, all counted.
class LABRIG_API Recorder {
 public:
  explicit Recorder(std::size_t capacity = 1 << 16);
  ~Recorder();
  Recorder(const Recorder&) = delete;
  Recorder& operator=(const Recorder&) = delete;
  std::vector<Event> events() const;
  std::size_t count() const;  // also of those that were not kept

  struct State;

 private:
  std::shared_ptr<State> state_;
};

// Called by the core.
void record(Event event);
bool recording();

}  // namespace labrig::trace
