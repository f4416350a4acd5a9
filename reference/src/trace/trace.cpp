// The recorder of what happened. Recorders nest: the newest one that is alive receives the events.
#include "labrig/trace.hpp"

#include <atomic>
#include <chrono>
#include <mutex>

namespace labrig::trace {

struct Recorder::State {
  explicit State(std::size_t most) : capacity(most) {}
  const std::size_t capacity;
  const std::chrono::steady_clock::time_point start = std::chrono::steady_clock::now();
  std::vector<Event> events;
  std::size_t count = 0;
};

namespace {

// What recorders of this process share; a recorder adds itself and takes itself out.
struct Recorders {
  std::mutex mutex;
  std::vector<std::shared_ptr<Recorder::State>> alive;  // the newest last
  std::atomic<bool> any{false};                         // so that nobody pays for events that nobody reads
};

Recorders& recorders() {
  static Recorders* const instance = new Recorders;  // never destroyed: tensors may be freed after everything else
  return *instance;
}

}  // namespace

Recorder::Recorder(std::size_t capacity) : state_(std::make_shared<State>(capacity)) {
  Recorders& all = recorders();
  const std::lock_guard lock(all.mutex);
  all.alive.push_back(state_);
  all.any = true;
}

Recorder::~Recorder() {
  Recorders& all = recorders();
  const std::lock_guard lock(all.mutex);
  std::erase(all.alive, state_);
  all.any = !all.alive.empty();
}

std::vector<Event> Recorder::events() const {
  const std::lock_guard lock(recorders().mutex);
  return state_->events;
}

std::size_t Recorder::count() const {
  const std::lock_guard lock(recorders().mutex);
  return state_->count;
}

bool recording() { return recorders().any.load(std::memory_order_relaxed); }

void record(Event event) {
  const auto now = std::chrono::steady_clock::now();
  Recorders& all = recorders();
  const std::lock_guard lock(all.mutex);
  if (all.alive.empty()) return;
  Recorder::State& state = *all.alive.back();
  event.time_ns = std::chrono::duration_cast<std::chrono::nanoseconds>(now - state.start).count();
  ++state.count;
  if (state.events.size() < state.capacity) state.events.push_back(std::move(event));
}

}  // namespace labrig::trace
