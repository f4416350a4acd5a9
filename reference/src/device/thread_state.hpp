// The thread-local state of the core, all of it: which card, and which stream of each card, is current for the calling
// thread; whether operators note how to go back, and what they do to their inputs before; the generator of random
// values. Everything else that is mutable belongs to an object that somebody owns.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "device/backend.hpp"
#include "labrig/random.hpp"

namespace labrig {

class Tensor;
// What an open autocast region does to the inputs of an operator; labrig::amp implements it (ops/autocast.hpp).
class AutocastRules {
 public:
  // Casts the inputs (undefined ones among them) of the operator of this name, in place of them.
  virtual void cast(const char* op, std::span<Tensor> inputs) = 0;

 protected:
  ~AutocastRules() = default;
};

struct ThreadState {
  struct CurrentStream {
    Device device;
    StreamId stream;
  };
  std::array<int, 3> current_device{};         // by DeviceType
  std::vector<CurrentStream> current_streams;  // devices that are not listed use their default stream
  bool grad_enabled = true;
  AutocastRules* autocast = nullptr;  // of the innermost open autocast region
  JobCost* job = nullptr;             // of the loader's job that this thread carries out: host work is added there
  Generator generator;                // random.hpp
  std::uint64_t machine = 0;          // the simulated machine that the entries for `sim` belong to
};

// That of the calling thread. Entries for a simulated machine that has been replaced since are gone.
LABRIG_API ThreadState& thread_state();

// Of a device with a number.
StreamId current_stream_id(Device device);

}  // namespace labrig
