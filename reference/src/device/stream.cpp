// Streams and events: thin handles on what a backend keeps.
#include "labrig/stream.hpp"

#include "device/registry.hpp"
#include "device/thread_state.hpp"
#include "labrig/error.hpp"
#include "labrig/trace.hpp"

namespace labrig {
namespace {

void record_sync(Device device, StreamId stream, const char* what) {
  if (!trace::recording()) return;
  trace::record({trace::Kind::sync, trace::Cause::asked, device, stream, 0, 0, what});
}

}  // namespace

StreamId current_stream_id(Device device) {
  for (const auto& entry : thread_state().current_streams) {
    if (entry.device == device) return entry.stream;
  }
  return 0;
}

void Stream::synchronize() const {
  const auto slot = slot_of(device_);
  record_sync(slot->device(), id_, "stream");
  slot->backend().synchronize_stream(id_, trace::Cause::asked);
}

bool Stream::query() const { return backend_of(device_).query_stream(id_); }

void Stream::wait_event(const Event& event) const { event.wait(*this); }

void Stream::wait_stream(Stream other) const { wait_event(other.record_event()); }

Event Stream::record_event() const {
  Event event(device_, false);
  event.record(*this);
  return event;
}

Stream current_stream(Device device) {
  const Device resolved = resolve(device);
  return Stream(resolved, current_stream_id(resolved));
}

void set_current_stream(Stream stream) {
  const Device device = resolve(stream.device());
  set_current_device(device);
  auto& streams = thread_state().current_streams;
  std::erase_if(streams, [&](const auto& entry) { return entry.device == device; });
  if (stream.id() != 0) streams.push_back({device, stream.id()});
}

Stream new_stream(Device device) {
  const auto slot = slot_of(device);
  return Stream(slot->device(), slot->backend().create_stream());
}

void synchronize(Device device) {
  const auto slot = slot_of(device);
  record_sync(slot->device(), 0, "device");
  slot->backend().synchronize_device(trace::Cause::asked);
}

StreamGuard::StreamGuard(Stream stream)
    : previous_device_(stream.device().type(), current_device(stream.device().type())),
      previous_(current_stream(stream.device())) {
  set_current_stream(stream);
}

StreamGuard::~StreamGuard() {
  try {
    set_current_stream(previous_);
    set_current_device(previous_device_);
  } catch (...) {  // the machine went away within the scope, and its streams with it
  }
}

// --- events --------------------------------------------------------------------------------------------------------

struct Event::State {
  State(std::shared_ptr<DeviceSlot> the_slot, EventId the_id, bool has_timing)
      : slot(std::move(the_slot)), id(the_id), timing(has_timing) {}
  ~State() { slot->destroy_event(id); }

  std::shared_ptr<DeviceSlot> slot;
  EventId id;
  bool timing;
  bool recorded = false;
};

Event::Event(Device device, bool enable_timing) {
  auto slot = slot_of(device);
  const EventId id = slot->backend().create_event(enable_timing);
  state_ = std::make_unique<State>(std::move(slot), id, enable_timing);
}

Event::~Event() = default;
Event::Event(Event&&) noexcept = default;
Event& Event::operator=(Event&&) noexcept = default;

Device Event::device() const { return state_->slot->device(); }

void Event::record() { record(current_stream(device())); }

void Event::record(Stream stream) {
  Backend& backend = state_->slot->backend();
  const Device other = resolve(stream.device());
  if (other != device()) {
    throw Error("device-mismatch",
                "Event device " + std::to_string(device().index()) + " does not match recording stream's device " +
                    std::to_string(other.index()) + ".",
                "an event marks a point in the work of one device: this one belongs to " + device().str() +
                    ", the stream to " + other.str(),
                "make the event on the device of the stream; streams of other cards can then wait for it");
  }
  backend.record_event(state_->id, stream.id());
  state_->recorded = true;
}

void Event::wait() const { wait(current_stream(device())); }

void Event::wait(Stream stream) const {
  if (!state_->recorded) return;
  Backend& owner = state_->slot->backend();
  const auto waiting = slot_of(stream.device());
  if (waiting->device().type() != device().type()) {
    throw Error("device-mismatch",
                "a stream of " + waiting->device().str() + " cannot wait for an event of " + device().str(),
                "the two devices know nothing of each other's work",
                "let the host wait for the event, with synchronize(), before it queues more work");
  }
  waiting->backend().wait_event(state_->id, stream.id(), owner);
}

void Event::synchronize() const {
  if (!state_->recorded) return;
  record_sync(device(), 0, "event");
  state_->slot->backend().synchronize_event(state_->id);
}

bool Event::query() const { return !state_->recorded || state_->slot->backend().query_event(state_->id); }

double Event::elapsed_ms(const Event& later) const {
  if (!state_->timing || !later.state_->timing) {
    throw Error("event-without-timing", "Both events must be created with argument 'enable_timing=True'.",
                "an event without timing orders work and has no time to tell",
                "create both events with timing, as in Event(device, true)");
  }
  if (!state_->recorded || !later.state_->recorded) {
    throw Error("event-not-ready", "Both events must be recorded before calculating elapsed time.",
                "an event that was never recorded marks no point in time",
                "record both events in a stream, synchronise with the later one, then ask");
  }
  if (later.device() != device()) {
    throw Error("device-mismatch",
                "Event device type or index does not match other's: " + device().str() + " and " + later.device().str(),
                "a time lies between two marks in the work of one device",
                "record both events in streams of one device");
  }
  return state_->slot->backend().elapsed_ms(state_->id, later.state_->id);
}

}  // namespace labrig
