// Streams, events, synchronisation, the host's own work, and the frame of the graded region.
#include "card/server.hpp"

namespace labrig::sim {

void Server::stream_create(const Command& command) {
  Card& card = card_of(command);
  const std::uint16_t stream = command.header.stream;
  if (stream >= kMaxStreams || card.streams_used[stream]) {
    refuse(
        {stream >= kMaxStreams ? "over-limit" : "bad-handle",
         "stream " + std::to_string(stream) + " of sim:" + std::to_string(command.header.device) + " cannot be created",
         stream >= kMaxStreams ? "a card has 64 streams" : "it exists already, or existed once",
         "create a few streams once and use them again"});
    return;
  }
  card.streams_used.set(stream);
  card.streams_alive.set(stream);
  scheduler_.charge(card.prices.profile().event_ps);
  const bool blocking = (command.arg[0] & kStreamNonBlocking) == 0;
  scheduler_.create_stream(command.header.device, stream, blocking);
  card.stream_index[stream] = ledger_.order().add_stream(command.header.device, stream, blocking);
}

void Server::stream_destroy(const Command& command) {
  if (command.header.stream == 0) {
    refuse(
        {"bad-handle", "the default stream cannot be destroyed", "it belongs to the device", "leave stream 0 alone"});
  } else if (stream_ok(command)) {
    card_of(command).streams_alive.reset(command.header.stream);
  }
}

void Server::event_command(const Command& command) {
  const std::uint64_t id = command.arg[0];
  const Profile& profile = card_of(command).prices.profile();
  if (command.opcode == Opcode::event_create) {
    if (id >= kMaxEvents || (id < events_.size() && events_[id].alive)) {
      refuse({id >= kMaxEvents ? "over-limit" : "bad-handle", "event " + std::to_string(id) + " cannot be created",
              id >= kMaxEvents ? "there are 65,536 events" : "it exists already", "use events again, or destroy them"});
      return;
    }
    if (id >= events_.size()) events_.resize(id + 1);
    events_[id] = {true, (command.arg[1] & kEventWithoutTiming) == 0, nullptr, {}};
    return;
  }
  Event* event = event_ok(id);
  if (event == nullptr) return;
  if (command.opcode == Opcode::event_destroy) {
    *event = {};
    return;
  }
  if (!stream_ok(command)) return;
  scheduler_.charge(profile.event_ps);
  if (command.opcode == Opcode::record) {
    event->recorded = scheduler_.record(command.header.device, command.header.stream);
    event->order = ledger_.order().record(stream_index(command));
  } else if (event->recorded) {  // a wait for what was never recorded has no effect
    scheduler_.wait(command.header.device, command.header.stream, event->recorded);
    ledger_.order().wait(stream_index(command), event->order);
  }
}

void Server::synchronize(const Command& command) {
  const bool of_event = command.opcode == Opcode::sync_event;
  const auto cause = cause_ok(command.arg[of_event ? 1 : 0]);
  if (!cause) return;
  const std::int64_t start = scheduler_.host_ps();
  if (of_event) {
    const Event* event = event_ok(command.arg[0]);
    if (event == nullptr) return;
    if (event->recorded) scheduler_.wait_for(*event->recorded);
    ledger_.order().reach(event->order);
  } else if (command.opcode == Opcode::sync_stream) {
    if (!stream_ok(command)) return;
    scheduler_.wait_for_stream(command.header.device, command.header.stream);
    ledger_.order().reach(ledger_.order().clock(stream_index(command)));
  } else {
    scheduler_.wait_for_device(command.header.device);
    ledger_.order().reach_device(command.header.device);
    count_full_stop();
  }
  frontier_moved();
  scheduler_.charge(card_of(command).prices.profile().sync_ps);
  count_sync(*cause);
  account_.add_host_span("sync", start, scheduler_.host_ps(), command.header.device, command.header.stream, 0,
                         wait_of(*cause));
}

void Server::query(const Command& command) {
  scheduler_.charge(card_of(command).prices.profile().query_ps);
  if (command.opcode == Opcode::query_stream) {
    if (!stream_ok(command)) return;
    answer_.value[0] = scheduler_.stream_done(command.header.device, command.header.stream);
    if (answer_.value[0] != 0) ledger_.order().reach(ledger_.order().clock(stream_index(command)));
  } else if (const Event* event = event_ok(command.arg[0])) {
    answer_.value[0] = !event->recorded || scheduler_.done(*event->recorded);
    if (answer_.value[0] != 0) ledger_.order().reach(event->order);
  }
  frontier_moved();
}

void Server::elapsed(const Command& command) {
  const Event* from = event_ok(command.arg[0]);
  const Event* to = event_ok(command.arg[1]);
  if (from == nullptr || to == nullptr) return;
  scheduler_.charge(card_of(command).prices.profile().query_ps);
  ElapsedState state = ElapsedState::ok;
  if (!from->timing || !to->timing) {
    state = ElapsedState::no_timing;
  } else if (!from->recorded || !to->recorded) {
    state = ElapsedState::not_recorded;
  } else if (!scheduler_.done(*from->recorded) || !scheduler_.done(*to->recorded)) {
    state = ElapsedState::not_ready;
  } else {
    answer_.value[1] = static_cast<std::uint64_t>(to->recorded->time_ps - from->recorded->time_ps);
  }
  answer_.value[0] = static_cast<std::uint64_t>(state);
}

void Server::host_work(const Command& command) {
  const std::int64_t start = scheduler_.host_ps();
  scheduler_.charge(card_of(command).prices.host_work_ps(command.arg[0], command.arg[1]));
  const std::string& name = names_.text(command.header.name);
  account_.add_host_span(name.empty() ? "host work" : name, start, scheduler_.host_ps(), command.header.device, 0,
                         command.arg[1]);
}

void Server::mark(const Command& command) {
  const std::int64_t now_ps = scheduler_.host_ps();
  if (command.arg[0] == kMarkLoop) return account_.mark_loop(now_ps);
  account_.add_marker(names_.text(command.header.name), now_ps);
}

void Server::host_access(const Command& command) {
  const auto [address, bytes, write] = std::tie(command.arg[0], command.arg[1], command.arg[2]);
  if (bytes == 0) return;
  if (!arena_.holding(address, bytes)) {
    refuse({"bad-address", "the host touches " + std::to_string(bytes) + " bytes that are not pinned memory",
            "no piece of pinned memory has all of these bytes", "use the memory of a pinned tensor that is alive"});
    return;
  }
  MemoryAccess access{arena_space(), address, bytes, write != 0, false, command.header.name, 0, 0};
  if (const Block* block = pinned_blocks_.holding(address, bytes)) {
    access.block = block->id;
    access.block_start = block->start;
    if (access.buffer == 0) access.buffer = block->name;
  }
  ledger_.host_access(access);
  count_hazards({}, {&access, 1});
}

// The harness is about to read a result of the call, by a copy in the stream that was current at its end. Whether that
// copy is ordered after the work on the result is the program's doing (S6, rule 17); its time is not.
void Server::fetch_note(const Command& command) {
  const auto [address, bytes] = std::tie(command.arg[0], command.arg[1]);
  if (!stream_ok(command) || bytes == 0) return;
  Block* block = block_ok(command.header.device, address, bytes, [&] { return copy_name(command) + " reads"; });
  if (block == nullptr) return;
  Who who;
  who.kind = Who::Kind::download;
  who.names[0] = command.header.name != 0 ? command.header.name : block->name;
  const ByteRange run{address, bytes};
  Effect unused;
  touch(unused, who, command.header.device, *block, {&run, 1}, false, false, command.header.name);
  const Operation operation = enter(command, who, unused);
  carry_out(operation, {});
}

void Server::begin(const Command&) {
  if (began_) {
    stop({"protocol-error", "the measured call was begun twice", "its metrics start once, before the submission's call",
          "leave the frame of the call to the harness"});
    return;
  }
  began_ = true;
  scheduler_.wait_for_all();
  ledger_.order().reach_all();
  frontier_moved();
  scheduler_.reset_use();
  account_.begin(scheduler_.host_ps());
  blocks_.mark_peak();
  findings_.clear();
}

void Server::finish(const Command&) {
  if (account_.frozen()) {
    stop({"protocol-error", "the measured call was ended twice", "its metrics end once, after the submission's call",
          "leave the frame of the call to the harness"});
    return;
  }
  scheduler_.wait_for_all();
  ledger_.order().reach_all();
  frontier_moved();
  account_.close(scheduler_.host_ps(), scheduler_.use());
  account_.freeze();
}

}  // namespace labrig::sim
