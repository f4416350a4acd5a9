// Scheduler: queues in, events out. One step is one start or one finish; ties go to finishes, then to the lower engine.
#include "card/scheduler.hpp"

#include <stdexcept>
#include <tuple>

namespace labrig::sim {

Scheduler::Scheduler(const std::vector<Profile>& cards, Listener listener) : listener_(std::move(listener)) {
  for (const Profile& profile : cards) {
    Card& card = cards_.emplace_back();
    card.launch_latency_ps = profile.launch_latency_ps;
    card.kernel_gap_ps = profile.kernel_gap_ps;
    card.numerator = profile.both_ways_numerator;
    card.denominator = profile.both_ways_denominator;
    card.queue_depth = profile.queue_depth;
    card.streams.resize(kMaxStreams);
  }
  for (std::size_t device = 0; device < cards_.size(); ++device) {
    create_stream(static_cast<std::uint16_t>(device), 0, true);
  }
}

void Scheduler::create_stream(std::uint16_t device, std::uint16_t id, bool blocking) {
  auto stream = std::make_unique<Stream>();
  stream->exists = true;
  stream->blocking = blocking;
  stream->device = device;
  stream->id = id;
  if (blocking) cards_[device].blocking.push_back(stream.get());
  cards_[device].streams[id] = std::move(stream);
}

// --- submission -----------------------------------------------------------------------------------------------

void Scheduler::submit(std::uint16_t device, std::uint16_t id, Engine engine, std::int64_t duration_ps,
                       const Label& label) {
  Operation operation;
  operation.engine = engine;
  operation.duration_ps = duration_ps;
  operation.label = label;
  operation.submitted_ps = engine == Engine::compute ? later(host_ps_, cards_[device].launch_latency_ps) : host_ps_;
  append(stream_of(device, id), std::move(operation));
}

void Scheduler::submit_peer(std::uint16_t device, std::uint16_t id, std::uint16_t other, std::int64_t duration_ps,
                            const Label& label) {
  Operation operation;
  operation.engine = Engine::down;
  operation.other = other;
  operation.duration_ps = duration_ps;
  operation.label = label;
  operation.submitted_ps = host_ps_;
  append(stream_of(device, id), std::move(operation));
}

MarkRef Scheduler::record(std::uint16_t device, std::uint16_t id) {
  Operation operation;
  operation.submitted_ps = host_ps_;
  MarkRef mark = mark_of(operation);
  append(stream_of(device, id), std::move(operation));
  return mark;
}

MarkRef Scheduler::last(std::uint16_t device, std::uint16_t id) {
  Stream& stream = stream_of(device, id);
  if (!stream.queue.empty()) return mark_of(stream.queue.back());
  return std::make_shared<Mark>(Mark{true, stream.last_finish_ps});
}

MarkRef Scheduler::mark_of(Operation& operation) {
  if (!operation.mark) operation.mark = std::make_shared<Mark>();
  return operation.mark;
}

void Scheduler::wait(std::uint16_t device, std::uint16_t id, MarkRef mark) {
  Operation operation;
  operation.submitted_ps = host_ps_;
  operation.after.push_back(std::move(mark));
  append(stream_of(device, id), std::move(operation));
}

void Scheduler::append(Stream& stream, Operation&& operation) {
  Card& card = cards_[stream.device];
  obey_default_stream(stream, operation);
  operation.sequence = next_sequence_++;
  stream.queue.push_back(std::move(operation));
  ++card.unfinished;
  if (!stream.active) {
    stream.active = true;
    active_.push_back(&stream);
  }
  if (stream.queue.size() == 1) settle_streams();
  if (card.unfinished > card.queue_depth) {
    advance();
    if (card.unfinished > card.queue_depth) {
      run_until([&] { return card.unfinished <= card.queue_depth; });
      host_ps_ = std::max(host_ps_, last_finish_ps_);
    }
  }
}

// Work in the default stream comes after all earlier work of blocking streams, and theirs after its.
void Scheduler::obey_default_stream(Stream& stream, Operation& operation) {
  if (!stream.blocking) return;
  for (Stream* other : cards_[stream.device].blocking) {
    if (other == &stream || other->queue.empty()) continue;
    if (stream.id == 0 || other->id == 0) operation.after.push_back(mark_of(other->queue.back()));
  }
}

// --- order ------------------------------------------------------------------------------------------------------

bool Scheduler::startable(const Stream& stream) const {
  const Operation& next = stream.queue.front();
  return std::all_of(next.after.begin(), next.after.end(), [](const MarkRef& mark) { return mark->done; });
}

// The earliest time at which the front of the queue, which is startable, may begin.
std::int64_t Scheduler::ready_ps(const Stream& stream) const {
  const Operation& next = stream.queue.front();
  std::int64_t ready = std::max(next.submitted_ps, stream.last_finish_ps);
  if (stream.last_was_kernel && next.engine == Engine::compute) {
    ready = std::max(ready, later(stream.last_finish_ps, cards_[stream.device].kernel_gap_ps));
  }
  for (const MarkRef& mark : next.after) ready = std::max(ready, mark->time_ps);
  return ready;
}

// Finishes what needs no engine at the front of a queue. True when anything was finished.
bool Scheduler::settle(Stream& stream) {
  bool changed = false;
  while (!stream.queue.empty() && stream.queue.front().engine == Engine::none && startable(stream)) {
    stream.last_finish_ps = ready_ps(stream);
    if (const MarkRef& mark = stream.queue.front().mark) *mark = {true, stream.last_finish_ps};
    stream.queue.pop_front();
    --cards_[stream.device].unfinished;
    changed = true;
  }
  return changed;
}

void Scheduler::settle_streams() {
  bool changed = true;
  while (changed) {
    changed = false;
    for (Stream* stream : active_) changed |= settle(*stream);
  }
  std::erase_if(active_, [](Stream* stream) {
    stream->active = !stream->queue.empty();
    return !stream->active;
  });
}

// --- events -----------------------------------------------------------------------------------------------------

bool Scheduler::find_start(Start& best) {
  const auto key = [](const Start& s) {
    const Stream& stream = *s.stream;
    return std::make_tuple(s.start_ps, stream.device, stream.queue.front().engine, s.ready_ps, stream.id);
  };
  for (Stream* stream : active_) {
    if (stream->running || !startable(*stream)) continue;
    Card& card = cards_[stream->device];
    const Operation& next = stream->queue.front();
    const EngineState& state = card.engine(next.engine);
    if (state.running != nullptr) continue;
    const std::int64_t ready = ready_ps(*stream);
    std::int64_t start = std::max(ready, state.free_from_ps);
    if (next.other >= 0) {
      const EngineState& far = cards_[static_cast<std::size_t>(next.other)].engine(Engine::up);
      if (far.running != nullptr) continue;
      start = std::max(start, far.free_from_ps);
    }
    const Start candidate{stream, start, ready};
    if (best.stream == nullptr || key(candidate) < key(best)) best = candidate;
  }
  return best.stream != nullptr;
}

bool Scheduler::step(std::int64_t limit_ps) {
  Stream* finishing = nullptr;
  for (Card& card : cards_) {
    for (const EngineState& state : card.engines) {
      if (state.running == nullptr || state.running->job.card != &card) continue;
      if (finishing == nullptr || state.running->job.finish_ps < finishing->job.finish_ps) finishing = state.running;
    }
  }
  Start next;
  const bool can_start = find_start(next);
  if (finishing != nullptr && (!can_start || finishing->job.finish_ps <= next.start_ps)) {
    if (finishing->job.finish_ps > limit_ps) return false;
    finish(*finishing);
    return true;
  }
  if (!can_start || next.start_ps >= limit_ps) return false;
  start(next);
  return true;
}

// Engine use between the last event of a card and this one.
void Scheduler::account(Card& card, std::int64_t now_ps) {
  const std::int64_t passed = now_ps - card.event_ps;
  card.event_ps = now_ps;
  for (std::size_t engine = 0; engine < kEngines; ++engine) {
    if (card.engines[engine].running != nullptr) use_.busy_ps[engine] = later(use_.busy_ps[engine], passed);
  }
  if (card.busy(Engine::compute) && (card.busy(Engine::up) || card.busy(Engine::down))) {
    use_.overlap_ps = later(use_.overlap_ps, passed);
  }
}

// How much of its work a copy does in a picosecond, in units of 1/scale: less while the other direction of its card, or
// of one of its cards, is busy.
std::int64_t Scheduler::rate_of(const Job& job) {
  const auto pace = [](const Card& card) {
    return card.busy(Engine::up) && card.busy(Engine::down) ? card.numerator : card.denominator;
  };
  if (job.other == nullptr) return pace(*job.card);
  return std::min(pace(*job.card) * job.other->denominator, pace(*job.other) * job.card->denominator);
}

// What each running copy still has to do at `now_ps`, at the rate that held since the last settlement.
void Scheduler::settle_copies(Card& card, std::int64_t now_ps) {
  for (const Engine engine : {Engine::up, Engine::down}) {
    if (!card.busy(engine)) continue;
    Job& job = card.engine(engine).running->job;
    job.remaining = std::max(Wide{0}, job.remaining - Wide{now_ps - job.settled_ps} * rate_of(job));
    job.settled_ps = now_ps;
  }
}

void Scheduler::replan_copies(Card& card, std::int64_t now_ps) {
  for (const Engine engine : {Engine::up, Engine::down}) {
    if (!card.busy(engine)) continue;
    Job& job = card.engine(engine).running->job;
    const std::int64_t rate = rate_of(job);
    const Wide left_ps = (job.remaining + rate - 1) / rate;
    job.finish_ps = later(now_ps, static_cast<std::int64_t>(std::min(left_ps, Wide{kEndOfTime})));
  }
}

void Scheduler::start(const Start& chosen) {
  Stream& stream = *chosen.stream;
  const Operation& operation = stream.queue.front();
  Card& card = cards_[stream.device];
  Card* other = operation.other < 0 ? nullptr : &cards_[static_cast<std::size_t>(operation.other)];
  const std::int64_t now_ps = chosen.start_ps;
  const bool copies = operation.engine != Engine::compute;
  for (Card* one : {&card, other}) {
    if (one == nullptr) continue;
    account(*one, now_ps);
    if (copies) settle_copies(*one, now_ps);
  }
  const std::int64_t scale = !copies ? 1 : card.denominator * (other == nullptr ? 1 : other->denominator);
  stream.job = {operation.engine,
                &card,
                other,
                now_ps,
                later(now_ps, operation.duration_ps),
                Wide{operation.duration_ps} * scale,
                scale,
                now_ps};
  stream.running = true;
  card.engine(operation.engine).running = &stream;
  if (other != nullptr) other->engine(Engine::up).running = &stream;
  if (!copies) return;
  replan_copies(card, now_ps);
  if (other != nullptr) replan_copies(*other, now_ps);
}

void Scheduler::finish(Stream& stream) {
  const Job job = stream.job;
  const std::int64_t now_ps = job.finish_ps;
  const bool copies = job.engine != Engine::compute;
  for (Card* one : {job.card, job.other}) {
    if (one == nullptr) continue;
    account(*one, now_ps);
    if (copies) settle_copies(*one, now_ps);
  }
  job.card->engine(job.engine) = {nullptr, now_ps};
  if (job.other != nullptr) job.other->engine(Engine::up) = {nullptr, now_ps};
  if (copies) {
    replan_copies(*job.card, now_ps);
    if (job.other != nullptr) replan_copies(*job.other, now_ps);
  }

  Operation& operation = stream.queue.front();
  if (operation.mark) *operation.mark = {true, now_ps};
  last_finish_ps_ = now_ps;
  listener_({stream.device, stream.id, job.engine, job.start_ps, now_ps, operation.label});
  if (job.other != nullptr) {
    listener_(
        {static_cast<std::uint16_t>(operation.other), stream.id, Engine::up, job.start_ps, now_ps, operation.label});
  }
  stream.last_was_kernel = job.engine == Engine::compute;
  stream.last_finish_ps = now_ps;
  stream.running = false;
  stream.queue.pop_front();
  --job.card->unfinished;
  settle_streams();
}

// --- the host -----------------------------------------------------------------------------------------------------

template <class Condition>
void Scheduler::run_until(Condition condition) {
  while (!condition()) {
    if (!step(kEndOfTime + 1)) throw std::logic_error("the simulated card waits for work that nothing can finish");
  }
}

bool Scheduler::done(const Mark& mark) {
  if (!mark.done) advance();
  return mark.done;
}

bool Scheduler::stream_done(std::uint16_t device, std::uint16_t id) {
  advance();
  return stream_of(device, id).queue.empty();
}

void Scheduler::wait_for(const Mark& mark) {
  run_until([&] { return mark.done; });
  host_ps_ = std::max(host_ps_, mark.time_ps);
}

void Scheduler::wait_for_stream(std::uint16_t device, std::uint16_t id) {
  Stream& stream = stream_of(device, id);
  run_until([&] { return stream.queue.empty(); });
  host_ps_ = std::max(host_ps_, stream.last_finish_ps);
}

void Scheduler::wait_for_device(std::uint16_t device) {
  for (std::uint16_t id = 0; id < kMaxStreams; ++id) {
    if (cards_[device].streams[id]) wait_for_stream(device, id);
  }
}

void Scheduler::wait_for_all() {
  for (std::size_t device = 0; device < cards_.size(); ++device) wait_for_device(static_cast<std::uint16_t>(device));
}

}  // namespace labrig::sim
