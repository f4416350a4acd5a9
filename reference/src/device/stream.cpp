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

Stream current_stream(Device device) {
  const Device resolved = resolve(device);
  return Stream(resolved, current_stream_id(resolved));
}

void set_current_stream(Stream stream) {
  const Device device = resolve(stream.device());
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

StreamGuard::StreamGuard(Stream stream) : previous_(current_stream(stream.device())) { set_current_stream(stream); }

StreamGuard::~StreamGuard() {
  try {
    set_current_stream(previous_);
  } catch (...) {  // the machine went away within the scope, and its streams with it
  }
}

// --- events --------------------------------------------------------------------------------------------------------

struct Event::State {
  State(std::shared_ptr<DeviceSlot> the_slot, EventId the_id) : slot(std::move(the_slot)), id(the_id) {}
  ~State() { slot->destroy_event(id); }

  std::shared_ptr<DeviceSlot> slot;
  EventId id;
  bool recorded = false;

  void check_device(Device other, const char* verb) const {
    if (other == slot->device()) return;
    throw Error(
        "device-mismatch",
        std::string("an event of ") + slot->device().str() + " cannot be " + verb + " a stream of " + other.str(),
        "an event marks a point in the work of one device",
        "make the event on the device of the stream, or let the host wait with synchronize()");
  }
};

Event::Event(Device device) {
  auto slot = slot_of(device);
  const EventId id = slot->backend().create_event(true);
  state_ = std::make_unique<State>(std::move(slot), id);
}

Event::~Event() = default;
Event::Event(Event&&) noexcept = default;
Event& Event::operator=(Event&&) noexcept = default;

void Event::record(Stream stream) {
  Backend& backend = state_->slot->backend();
  state_->check_device(resolve(stream.device()), "recorded in");
  backend.record_event(state_->id, stream.id());
  state_->recorded = true;
}

void Event::wait(Stream stream) const {
  if (!state_->recorded) return;
  Backend& backend = state_->slot->backend();
  state_->check_device(resolve(stream.device()), "waited for by");
  backend.wait_event(state_->id, stream.id(), backend);
}

void Event::synchronize() const {
  if (!state_->recorded) return;
  record_sync(state_->slot->device(), 0, "event");
  state_->slot->backend().synchronize_event(state_->id);
}

bool Event::query() const { return !state_->recorded || state_->slot->backend().query_event(state_->id); }

double Event::elapsed_ms(const Event& later) const {
  if (!state_->recorded || !later.state_->recorded) {
    throw Error("event-not-ready", "Both events must be recorded before calculating elapsed time.",
                "an event that was never recorded marks no point in time",
                "record both events in a stream, synchronise with the later one, then ask");
  }
  later.state_->check_device(state_->slot->device(), "compared with one in");
  return state_->slot->backend().elapsed_ms(state_->id, later.state_->id);
}

}  // namespace labrig
