// Streams and events: in which order a card works. Operations of one stream run one after another; nothing orders
// two streams but an event. The host does not wait for a stream unless it says so. Every device starts with its default
// stream current. Read next: tensor.hpp (which copies wait).
#pragma once

#include <cstdint>
#include <memory>

#include "labrig/device.hpp"
#include "labrig/export.hpp"

namespace labrig {

// A queue of work on one device. Copies of a Stream name the same queue.
class LABRIG_API Stream {
 public:
  // The default stream of a device. For the host: a stream whose work is always done.
  explicit Stream(Device device = {}) : Stream(device, 0) {}
  Stream(Device device, std::uint16_t id) : device_(device), id_(id) {}

  Device device() const { return device_; }
  std::uint16_t id() const { return id_; }  // 0: the default stream
  // Makes the host wait until all work queued so far is done.
  void synchronize() const;
  // True when all work queued so far is done. Costs host time.
  bool query() const;
  bool operator==(const Stream&) const = default;

 private:
  Device device_;
  std::uint16_t id_;
};

LABRIG_API Stream current_stream(Device device);
LABRIG_API void set_current_stream(Stream stream);
// A new stream that does not synchronise with the default stream (as PyTorch's streams).
LABRIG_API Stream new_stream(Device device);
// Makes the host wait for all streams of a device.
LABRIG_API void synchronize(Device device);

class LABRIG_API StreamGuard {
 public:
  explicit StreamGuard(Stream stream);
  ~StreamGuard();
  StreamGuard(const StreamGuard&) = delete;
  StreamGuard& operator=(const StreamGuard&) = delete;

 private:
  Stream previous_;
};

// A mark in a stream: recorded there, waited for by other streams or by the host.
class LABRIG_API Event {
 public:
  explicit Event(Device device);
  ~Event();
  Event(Event&&) noexcept;
  Event& operator=(Event&&) noexcept;

  void record(Stream stream);
  // Work queued in `stream` from now on waits for what was recorded; no effect when nothing was.
  void wait(Stream stream) const;
  void synchronize() const;
  bool query() const;
  // Milliseconds from `this` to `later`; both must be recorded and done. Throws `event-not-ready`.
  double elapsed_ms(const Event& later) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace labrig
