// The thread-local state of the core, all of it: which card, and which stream of each card, is current for the calling
// thread. Everything else that is mutable belongs to an object that somebody owns.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "device/backend.hpp"

namespace labrig {

struct ThreadState {
  struct CurrentStream {
    Device device;
    StreamId stream;
  };
  std::array<int, 3> current_device{};         // by DeviceType
  std::vector<CurrentStream> current_streams;  // devices that are not listed use their default stream
  std::uint64_t machine = 0;                   // the simulated machine that the entries for `sim` belong to
};

// That of the calling thread. Entries for a simulated machine that has been replaced since are gone.
ThreadState& thread_state();

// Of a device with a number.
StreamId current_stream_id(Device device);

}  // namespace labrig
