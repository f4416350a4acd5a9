// SimBackend: each call becomes one command, or a few.
#include "driver/backend.hpp"

namespace labrig::sim {
namespace {

std::uint64_t cause_bits(trace::Cause cause) {
  switch (cause) {
    case trace::Cause::asked:
      return static_cast<std::uint64_t>(CommandCause::asked);
    case trace::Cause::value:
      return static_cast<std::uint64_t>(CommandCause::value);
    case trace::Cause::copy:
      return static_cast<std::uint64_t>(CommandCause::copy);
    case trace::Cause::hidden:
      return static_cast<std::uint64_t>(CommandCause::hidden);
    case trace::Cause::implicit:
      return static_cast<std::uint64_t>(CommandCause::implicit);
  }
  return static_cast<std::uint64_t>(CommandCause::asked);
}

std::uint64_t flags_of(const CopyRequest& request) {
  return cause_bits(request.cause) | (request.non_blocking ? kCopyNonBlocking : 0);
}

// "12.0 GiB", "256 MiB", with integers only.
std::string size_text(std::uint64_t bytes) {
  constexpr std::uint64_t kMiB = std::uint64_t{1} << 20;
  if (bytes < 1024 * kMiB) return std::to_string(bytes / kMiB) + " MiB";
  const std::uint64_t tenths = (bytes * 10 + 512 * kMiB) / (1024 * kMiB);
  return std::to_string(tenths / 10) + "." + std::to_string(tenths % 10) + " GiB";
}

}  // namespace

std::vector<std::unique_ptr<Backend>> make_backends(std::shared_ptr<Client> client) {
  std::vector<std::unique_ptr<Backend>> cards;
  const auto events = std::make_shared<SimBackend::EventNumbers>();
  for (int i = 0; i < client->map().cards(); ++i) cards.push_back(std::make_unique<SimBackend>(client, events, i));
  return cards;
}

Client* attached_client() {
  auto* card = dynamic_cast<SimBackend*>(attached_sim_clock());
  return card == nullptr ? nullptr : &card->client();
}

SimBackend::SimBackend(std::shared_ptr<Client> client, std::shared_ptr<EventNumbers> events, int index)
    : client_(std::move(client)), events_(std::move(events)), index_(index) {}

std::string SimBackend::describe() const {
  const Handles& handles = client_->handles();
  const auto i = static_cast<std::size_t>(index_);
  return device().str() + ": " + handles.card_names[i] + ", simulated, " + size_text(handles.capacity_bytes[i]);
}

std::string SimBackend::lacks_bf16() const {
  const Handles& handles = client_->handles();
  const auto i = static_cast<std::size_t>(index_);
  if (i >= handles.without_bf16.size() || handles.without_bf16[i].empty()) return {};
  return handles.card_names[i] + " has " + handles.without_bf16[i];
}

MemoryInfo SimBackend::memory_info() {
  const auto values = client_->call(Opcode::statistics, target(), {});
  return {values.value[0], values.value[1]};
}

// --- memory ---------------------------------------------------------------------------------------------------------

void* SimBackend::driver_malloc(std::size_t bytes) {
  const auto values = client_->call(Opcode::driver_malloc, target(), {bytes});
  return values.value[0] == 0 ? nullptr : client_->pointer_at(values.value[1]);
}

void SimBackend::driver_free(void* memory) {
  client_->call(Opcode::driver_free, target(), {client_->offset_of(memory)});
}

void* SimBackend::reserve_range(std::size_t bytes) {
  const auto values = client_->call(Opcode::driver_reserve, target(), {bytes});
  return values.value[0] == 0 ? nullptr : client_->pointer_at(values.value[1]);
}

void SimBackend::release_range(void* address, std::size_t) {
  client_->call(Opcode::driver_release, target(), {client_->offset_of(address)});
}

bool SimBackend::map_pages(void* address, std::size_t bytes) {
  return client_->call(Opcode::driver_map, target(), {client_->offset_of(address), bytes}).value[0] != 0;
}

void SimBackend::unmap_pages(void* address, std::size_t bytes) {
  client_->call(Opcode::driver_unmap, target(), {client_->offset_of(address), bytes});
}

void SimBackend::note_alloc(void* block, std::size_t requested, std::size_t block_bytes, std::string_view name) {
  client_->note_alloc(target(0, name), client_->offset_of(block), requested, block_bytes);
}

void SimBackend::note_free(void* block) { client_->note_free(target(), client_->offset_of(block)); }

void SimBackend::note_name(void* block, std::string_view name) {
  if (client_->in_arena(block)) {
    client_->send(Opcode::name_note, target(0, name), {client_->arena_offset_of(block), 1});
    return;
  }
  client_->note_name(target(0, name), client_->offset_of(block));
}

void* SimBackend::pinned_malloc(std::size_t bytes) {
  const auto values = client_->call(Opcode::pinned_malloc, target(), {bytes});
  return values.value[0] == 0 ? nullptr : client_->arena_at(values.value[1]);
}

void SimBackend::pinned_free(void* memory) {
  client_->call(Opcode::pinned_free, target(), {client_->arena_offset_of(memory)});
}

void SimBackend::note_pinned_alloc(void* block, std::size_t requested, std::size_t block_bytes, std::string_view name) {
  client_->send(Opcode::pinned_note, target(0, name), {client_->arena_offset_of(block), requested, block_bytes});
}

void SimBackend::note_pinned_free(void* block) {
  client_->send(Opcode::pinned_free_note, target(), {client_->arena_offset_of(block)});
}

// --- work -----------------------------------------------------------------------------------------------------------

void SimBackend::copy(const CopyRequest& request) {
  if (request.bytes == 0) return;
  const Target about = target(request.stream, request.name);
  const std::uint64_t flags = flags_of(request);
  if (request.direction == CopyDirection::within || request.direction == CopyDirection::peer) {
    // Addresses of all cards are offsets into one range, so a copy between two says by itself where it goes.
    const bool peer = request.direction == CopyDirection::peer;
    client_->copy_on_cards(
        peer ? Opcode::copy_peer : Opcode::copy_within, about,
        {client_->offset_of(request.destination), client_->offset_of(request.source), request.bytes, flags});
    return;
  }
  const bool up = request.direction == CopyDirection::up;
  if (request.pinned && client_->in_arena(up ? request.source : request.destination)) return copy_pinned(request);
  if (up) {
    client_->upload(about, client_->offset_of(request.destination), request.source, request.bytes, flags);
  } else {
    client_->download(about, request.destination, client_->offset_of(request.source), request.bytes, flags);
  }
}

void SimBackend::copy_pinned(const CopyRequest& request) {
  const bool up = request.direction == CopyDirection::up;
  client_->copy_pinned(
      target(request.stream, request.name), up, client_->offset_of(up ? request.destination : request.source),
      client_->arena_offset_of(up ? request.source : request.destination), request.bytes, flags_of(request));
  if (!request.non_blocking) {
    const bool value = request.cause == trace::Cause::value;
    synchronize_stream(request.stream, value ? trace::Cause::value : trace::Cause::copy);
  } else if (client_->handles().mode == Mode::eager) {
    // The card reaches host memory only while the host waits for it: what the program sees never depends on real time.
    client_->call(Opcode::throttle, target(), {});
  }
}

void SimBackend::launch(const KernelCall& call, StreamId stream) { client_->launch(target(stream), call); }

void SimBackend::host_work(const KernelCost& cost, std::string_view name) {
  client_->send(Opcode::host_work, target(0, name), {cost.flops, cost.bytes});
}

void SimBackend::mark_loop() { client_->send(Opcode::marker, target(), {kMarkLoop}); }

int SimBackend::open_worker() {
  const std::lock_guard lock(pool_mutex_);
  for (std::size_t worker = 0; worker < workers_.size(); ++worker)
    if (!workers_[worker]) {
      workers_.set(worker);
      return static_cast<int>(worker);
    }
  throw Error("too-many-workers", "a simulated machine has " + std::to_string(kMaxWorkers) + " workers for loaders",
              "loaders that are in the middle of a pass hold all of them",
              "give loaders fewer workers, or end a pass before the next one begins");
}

void SimBackend::queue_job(int worker, const JobCost& cost) {
  client_->send(Opcode::job, target(), {static_cast<std::uint64_t>(worker), cost.flops, cost.bytes, cost.calls});
}

void SimBackend::take_job(int worker) {
  client_->send(Opcode::take_job, target(), {static_cast<std::uint64_t>(worker)});
}

void SimBackend::close_worker(int worker) {
  client_->send(Opcode::close_worker, target(), {static_cast<std::uint64_t>(worker)});
  const std::lock_guard lock(pool_mutex_);
  workers_.reset(static_cast<std::size_t>(worker));
}

void SimBackend::host_access(const void* address, std::size_t bytes, bool write, std::string_view name) {
  if (bytes == 0 || !client_->in_arena(address)) return;
  client_->send(Opcode::host_access, target(0, name), {client_->arena_offset_of(address), bytes, write ? 1u : 0u});
}

void SimBackend::note_fetch(const void* address, std::size_t bytes, StreamId stream, std::string_view name) {
  if (bytes == 0) return;
  client_->copy_on_cards(Opcode::fetch_note, target(stream, name), {client_->offset_of(address), bytes});
}

std::int64_t SimBackend::clock_ns() {
  return static_cast<std::int64_t>(client_->call(Opcode::clock, target(), {}).value[0]) / 1000;
}

// --- order ----------------------------------------------------------------------------------------------------------

StreamId SimBackend::create_stream() {
  const std::lock_guard lock(pool_mutex_);
  const auto stream = static_cast<StreamId>(1 + pool_next_);
  pool_next_ = (pool_next_ + 1) % kPoolStreams;
  if (pool_made_ < stream) {
    client_->create_stream(target(stream), kStreamNonBlocking);
    pool_made_ = stream;
  }
  return stream;
}

void SimBackend::synchronize_stream(StreamId stream, trace::Cause cause) {
  client_->call(Opcode::sync_stream, target(stream), {cause_bits(cause)});
}

void SimBackend::synchronize_device(trace::Cause cause) {
  client_->call(Opcode::sync_device, target(), {cause_bits(cause)});
}

bool SimBackend::query_stream(StreamId stream) {
  return client_->call(Opcode::query_stream, target(stream), {}).value[0] != 0;
}

EventId SimBackend::create_event(bool timing) {
  const std::lock_guard lock(events_->mutex);
  EventId event = events_->next;
  if (!events_->free.empty()) {
    event = events_->free.back();
    events_->free.pop_back();
  } else if (event == kMaxEvents) {
    throw Error("too-many-events", "cannot create another event on " + device().str(),
                "a simulated machine has 65,536 events", "record events again instead of creating new ones");
  } else {
    ++events_->next;
  }
  client_->send(Opcode::event_create, target(), {event, timing ? 0 : kEventWithoutTiming});
  return event;
}

void SimBackend::destroy_event(EventId event) {
  const std::lock_guard lock(events_->mutex);
  client_->send(Opcode::event_destroy, target(), {event});
  events_->free.push_back(event);
}

void SimBackend::record_event(EventId event, StreamId stream) {
  client_->send(Opcode::record, target(stream), {event});
}

// Events are numbered for the whole machine, so it does not matter which of its cards made this one.
void SimBackend::wait_event(EventId event, StreamId stream, Backend& owner) {
  const auto* card = dynamic_cast<const SimBackend*>(&owner);
  if (card == nullptr || card->client_ != client_) {
    throw Error("device-mismatch", "an event of another machine cannot be waited for by " + device().str(),
                "an event marks a point in the work of one machine", "make the event on a card of this machine");
  }
  client_->send(Opcode::wait, target(stream), {event});
}

void SimBackend::synchronize_event(EventId event) {
  client_->call(Opcode::sync_event, target(), {event, cause_bits(trace::Cause::asked)});
}

bool SimBackend::query_event(EventId event) {
  return client_->call(Opcode::query_event, target(), {event}).value[0] != 0;
}

double SimBackend::elapsed_ms(EventId from, EventId to) {
  const auto values = client_->call(Opcode::elapsed, target(), {from, to});
  switch (static_cast<ElapsedState>(values.value[0])) {
    case ElapsedState::ok:
      break;
    case ElapsedState::not_recorded:
      throw Error("event-not-recorded", "Both events must be recorded before calculating elapsed time.",
                  "a time lies between two marks, and one of these was never set",
                  "record both events in a stream first");
    case ElapsedState::no_timing:
      throw Error("event-without-timing", "Both events must be created with argument 'enable_timing=True'.",
                  "an event without timing orders work and keeps no time", "create both events with timing");
    case ElapsedState::not_ready:
      throw Error("event-not-ready", "Both events must be completed before calculating elapsed time.",
                  "the card has not come to one of them yet", "synchronize with the later event first");
  }
  return static_cast<double>(static_cast<std::int64_t>(values.value[1])) / 1e9;
}

}  // namespace labrig::sim
