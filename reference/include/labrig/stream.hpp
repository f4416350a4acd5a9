// Streams and events: in which order a card works. Operations of one stream run one after another; nothing orders
// two streams but an event. The host does not wait for a stream unless it says so. Every device starts with its default
// stream current. Read next: tensor.hpp (which copies wait).
#pragma once

#include <cstdint>
#include <memory>

#include "labrig/device.hpp"
#include "labrig/export.hpp"

namespace labrig {

class Event;

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
  // Work queued in this stream from now on waits for what was recorded in the event; no effect when nothing was.
  void wait_event(const Event& event) const;
  // Work queued in this stream from now on waits for all work queued in `other` so far.
  void wait_stream(Stream other) const;
  // A new event, without timing, behind all work queued so far.
  Event record_event() const;
  bool operator==(const Stream&) const = default;

 private:
  Device device_;
  std::uint16_t id_;
};

// Which stream of a device the calling thread queues its work in. Every device has its own.
LABRIG_API Stream current_stream(Device device);
// As in PyTorch this also makes the stream's device current.
LABRIG_API void set_current_stream(Stream stream);
// A stream that does not synchronise with the default stream. As in PyTorch a device has 32 of them, handed out in
// turn: the 33rd is the first again. There are no priorities.
LABRIG_API Stream new_stream(Device device);
// Makes the host wait for all streams of a device.
LABRIG_API void synchronize(Device device);

// Makes a stream, and its device, current for a scope, on the calling thread; PyTorch's `with torch.cuda.stream(s)`.
class LABRIG_API StreamGuard {
 public:
  explicit StreamGuard(Stream stream);
  ~StreamGuard();
  StreamGuard(const StreamGuard&) = delete;
  StreamGuard& operator=(const StreamGuard&) = delete;

 private:
  Device previous_device_;
  Stream previous_;  // of the device of the stream
};

// A mark in a stream: recorded there, waited for by other streams or by the host. Recording it again moves the mark for
// waits that follow; an earlier wait keeps to the mark it was given.
class LABRIG_API Event {
 public:
  // Without `enable_timing` the event orders work and has no time to tell. (PyTorch's default is without.)
  explicit Event(Device device, bool enable_timing = true);
  ~Event();
  Event(Event&&) noexcept;
  Event& operator=(Event&&) noexcept;

  Device device() const;
  // Behind all work queued in `stream` so far, by default the current stream of the event's device. Throws
  // `device-mismatch` for a stream of another device.
  void record(Stream stream);
  void record();
  // Work queued in `stream` from now on waits for what was recorded; no effect when nothing was. The stream may belong
  // to another card of the same type; by default it is the current stream of the event's device.
  void wait(Stream stream) const;
  void wait() const;
  // Makes the host wait for what was recorded.
  void synchronize() const;
  // True when what was recorded is done, or nothing was.
  bool query() const;
  // Milliseconds from `this` to `later`; both must have timing, be recorded and be done. Throws `event-without-timing`,
  // `event-not-ready`.
  double elapsed_ms(const Event& later) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace labrig
