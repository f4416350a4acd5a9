// Dispatch: one command in, its checks in order, its handler, its answer; and the report.
#include "card/server.hpp"

#include "protocol/fault_text.hpp"

namespace labrig::sim {
namespace {

std::vector<std::uint64_t> capacities(const std::vector<Profile>& cards) {
  std::vector<std::uint64_t> bytes;
  for (const Profile& card : cards) bytes.push_back(card.capacity_bytes);
  return bytes;
}

// What a client may still do after `finish`: read results, wait, and give memory back.
bool reads_or_frees(Opcode opcode) {
  switch (opcode) {
    case Opcode::copy_up:
    case Opcode::pageable_begin:
    case Opcode::copy_peer:
    case Opcode::host_work:
    case Opcode::job:
    case Opcode::begin:
      return false;
    default:
      return true;
  }
}

constexpr std::size_t kPeakNames = 16;  // in the report

// Two-way commands that give things back or end the run: they answer `ok` also after a refusal.
bool ends_things(Opcode opcode) {
  return opcode == Opcode::driver_free || opcode == Opcode::driver_unmap || opcode == Opcode::driver_release ||
         opcode == Opcode::pinned_free || opcode == Opcode::finish || opcode == Opcode::clock;
}

}  // namespace

Server::Server(const MachineOptions& options, const Regions& regions)
    : options_(options),
      regions_(regions),
      map_(capacities(options.cards)),
      blocks_(map_, names_),
      pinned_blocks_(names_),
      account_(options.cards.size(), options.limits.trace_events, names_),
      scheduler_(options.cards, [this](const FinishedOperation& operation) { account_.add_operation(operation); }),
      memory_(map_, options.data),
      ledger_(options.cards.size() + 1),
      effects_(memory_, regions,
               [this](const Effect& effect, const kernels::BadIndex& bad) { assert_in_kernel(effect, bad); }),
      findings_(names_, ledger_.order(), options.cards.size()),
      arena_(0, regions.arena_bytes()) {
  for (int i = 0; i < map_.cards(); ++i) {
    Card card{Prices(options.cards[static_cast<std::size_t>(i)]),
              RangeTable(map_.part(i).start, map_.part(i).bytes),
              {},
              {},
              {},
              {}};
    card.streams_alive.set(0);
    card.streams_used.set(0);
    card.stream_index[0] = ledger_.order().add_stream(static_cast<std::uint16_t>(i), 0, true);
    cards_.push_back(std::move(card));
  }
}

std::optional<Answer> Server::process(const Record& record, std::uint64_t granules) {
  const std::lock_guard lock(mutex_);
  if (stopped_) return std::nullopt;
  if (const auto damage = damage_of(record, granules, next_sequence_)) {
    stop({"protocol-error", "the device got a damaged command", *damage,
          "the program wrote over memory that is not its own; look for writes past the end of arrays"});
    return std::nullopt;
  }
  ++next_sequence_;
  const Command command = command_of(record);
  if (command.opcode == Opcode::nop) return std::nullopt;
  if (++commands_ > options_.limits.commands) {
    stop({"over-limit", "more than " + std::to_string(options_.limits.commands) + " commands went to the card",
          "a case has a limited number of commands, the same on every machine",
          "look for a loop that never ends, or do more work in each call"});
    return std::nullopt;
  }
  current_ = command;
  if (command.opcode != Opcode::clock && command.opcode != Opcode::name) last_ = command;
  answer_ = {};
  carry_out(record);
  if (stopped_ || !is_two_way(command.opcode)) return std::nullopt;
  if (violation_ && !ends_things(command.opcode)) {
    answer_.status = ReplyStatus::refused;
    answer_.violation = &*violation_;
  }
  return answer_;
}

bool Server::may_run(const Command& command) {
  if (upload_.active && command.opcode != Opcode::pageable_chunk) {
    stop({"protocol-error", "the device got a damaged command", "a copy was left before all its bytes had come",
          "use the card through the library's own functions"});
    return false;
  }
  if (command.opcode != Opcode::name && !names_.known(command.header.name)) {
    stop({"protocol-error", "the device got a damaged command", "it names a text that was never sent",
          "use the card through the library's own functions"});
    return false;
  }
  if (command.header.device >= cards_.size()) {
    refuse({"bad-handle", "there is no card sim:" + std::to_string(command.header.device),
            "this machine has " + std::to_string(cards_.size()), "use a device that device_count() counts"});
    return false;
  }
  if (account_.frozen() && !reads_or_frees(command.opcode)) {
    refuse({"after-finish", "work was given to the card after the end of the measured call",
            "results can still be read then, and nothing else", "finish all work before the call returns"});
    return false;
  }
  return true;
}

void Server::carry_out(const Record& record) {
  const Command& command = current_;
  if (!may_run(command)) return;
  switch (command.opcode) {
    case Opcode::nop:
      return;
    case Opcode::name:
      return define_name(record);
    case Opcode::stream_create:
      return stream_create(command);
    case Opcode::stream_destroy:
      return stream_destroy(command);
    case Opcode::event_create:
    case Opcode::event_destroy:
    case Opcode::record:
    case Opcode::wait:
      return event_command(command);
    case Opcode::launch:
      return launch(command, record);
    case Opcode::copy_up:
      return copy_pinned(command, true);
    case Opcode::copy_down:
      return copy_pinned(command, false);
    case Opcode::pageable_begin:
      return pageable_begin(command);
    case Opcode::pageable_chunk:
      return pageable_chunk(command);
    case Opcode::copy_within:
      return copy_within(command);
    case Opcode::copy_peer:
      return copy_peer(command);
    case Opcode::alloc_note:
      return alloc_note(command);
    case Opcode::free_note:
      return free_note(command);
    case Opcode::name_note:
      return name_note(command);
    case Opcode::pinned_note:
      return pinned_note(command);
    case Opcode::pinned_free_note:
      return pinned_free_note(command);
    case Opcode::host_work:
      return host_work(command);
    case Opcode::job:
      return job(command);
    case Opcode::take_job:
      return take_job(command);
    case Opcode::close_worker:
      return close_worker(command);
    case Opcode::host_access:
      return host_access(command);
    case Opcode::fetch_note:
      return fetch_note(command);
    case Opcode::marker:
      return mark(command);
    case Opcode::sync_stream:
    case Opcode::sync_event:
    case Opcode::sync_device:
      return synchronize(command);
    case Opcode::query_event:
    case Opcode::query_stream:
      return query(command);
    case Opcode::elapsed:
      return elapsed(command);
    case Opcode::driver_malloc:
      return driver_malloc(command);
    case Opcode::driver_free:
      return driver_free(command);
    case Opcode::driver_reserve:
      return driver_reserve(command);
    case Opcode::driver_release:
      return driver_release(command);
    case Opcode::driver_map:
      return driver_map(command);
    case Opcode::driver_unmap:
      return driver_unmap(command);
    case Opcode::pinned_malloc:
      return pinned_malloc(command);
    case Opcode::pinned_free:
      return pinned_free(command);
    case Opcode::copy_to_pageable:
      return copy_to_pageable(command);
    case Opcode::throttle:
      return effects_.carry_out_all();
    case Opcode::statistics:
      return statistics(command);
    case Opcode::clock:
      answer_.value[0] = static_cast<std::uint64_t>(scheduler_.host_ps());
      return;
    case Opcode::begin:
      return begin(command);
    case Opcode::finish:
      return finish(command);
  }
}

void Server::refuse(Violation violation) {
  if (!violation_) violation_ = std::move(violation);
}

void Server::stop(Violation violation) {
  stopped_ = true;
  // A damaged command says more about a run than what it was refused before.
  violation_ = std::move(violation);
}

void Server::stop_for_damage(const std::string& what) {
  const std::lock_guard lock(mutex_);
  if (stopped_) return;
  stop({"protocol-error", "the device got a damaged command", what,
        "the program wrote over memory that is not its own; look for writes past the end of arrays"});
}

bool Server::stream_ok(const Command& command) {
  const std::uint16_t stream = command.header.stream;
  if (stream < kMaxStreams && card_of(command).streams_alive[stream]) return true;
  refuse({"bad-handle",
          "there is no stream " + std::to_string(stream) + " on sim:" + std::to_string(command.header.device),
          "it was never created, or is destroyed", "use streams from new_stream()"});
  return false;
}

Server::Event* Server::event_ok(std::uint64_t event) {
  if (event < events_.size() && events_[event].alive) return &events_[event];
  refuse({"bad-handle", "there is no event " + std::to_string(event), "it was never created, or is destroyed",
          "keep the Event alive as long as it is used"});
  return nullptr;
}

Block* Server::pinned_block_ok(const std::string& subject, std::uint64_t address, std::uint64_t bytes) {
  if (Block* block = pinned_blocks_.holding(address, bytes)) return block;
  // A client that announces no pinned blocks uses the driver's pieces as they are.
  if (const auto piece = arena_.holding(address, bytes); piece && !pinned_blocks_.ever_announced()) {
    raw_pinned_ = {0, piece->start, piece->bytes, piece->bytes, 0, {}, 0};
    return &raw_pinned_;
  }
  refuse(pinned_blocks_.missed(subject, address, bytes));
  return nullptr;
}

std::optional<CommandCause> Server::cause_ok(std::uint64_t cause) {
  if (cause < kCommandCauseCount) return static_cast<CommandCause>(cause);
  stop({"protocol-error", "the device got a damaged command", "it gives a cause that does not exist",
        "use the card through the library's own functions"});
  return std::nullopt;
}

void Server::count_sync(CommandCause cause) {
  Metrics& count = account_.count();
  switch (cause) {
    case CommandCause::asked:
      ++count.syncs_explicit;
      return;
    case CommandCause::value:
      ++count.syncs_value;
      return;
    case CommandCause::copy:
    case CommandCause::hidden:
      ++count.syncs_copy;
      return;
    case CommandCause::implicit:
      ++count.syncs_implicit;
      return;
  }
}

Span::Wait Server::wait_of(CommandCause cause) {
  switch (cause) {
    case CommandCause::asked:
      return Span::Wait::asked;
    case CommandCause::value:
      return Span::Wait::value;
    case CommandCause::copy:
    case CommandCause::hidden:
      return Span::Wait::copy;
    case CommandCause::implicit:
      return Span::Wait::implicit;
  }
  return Span::Wait::none;
}

bool Server::spend_steps(std::uint64_t steps) {
  if (!memory_.has_data()) return true;
  const std::uint64_t limit = options_.limits.case_steps;
  case_steps_ = steps > limit - std::min(limit, case_steps_) ? limit + 1 : case_steps_ + steps;
  if (case_steps_ <= limit) return true;
  refuse({"over-limit", "the card was given more than " + std::to_string(limit) + " steps of work",
          "a case may take that many, the same on every machine", "look for work that is done more than once"});
  return false;
}

std::string Server::copy_name(const Command& command) const {
  const std::string& name = names_.text(command.header.name);
  return name.empty() ? "copy" : "copy '" + name + "'";
}

std::string Server::doing() const {
  if (last_.opcode == Opcode::nop) return "";
  std::string text(name_of(last_.opcode));
  if (last_.opcode == Opcode::launch) {
    const auto kernel = kernel_from_index(last_kernel_);
    text = "kernel '" + std::string(kernel ? name_of(*kernel) : "?") + "'";
  }
  const std::string& name = names_.text(last_.header.name);
  if (!name.empty()) text += " '" + name + "'";
  return text + " on sim:" + std::to_string(last_.header.device) + ", stream " + std::to_string(last_.header.stream);
}

std::string Server::crash_text() const {
  const CrashRecord& record = regions_.worker_page().crash;
  if (record.valid.load(std::memory_order_acquire) != 1) return "";
  const std::uint64_t address = record.address;
  const bool on_device = record.in_device_range == 1;
  const auto access = record.access <= 2 ? static_cast<CrashAccess>(record.access) : CrashAccess::unknown;
  FixedText text;
  const auto card = on_device ? map_.card_of(address) : std::nullopt;
  if (!card) {
    append_host_fault(text, on_device ? ~std::uint64_t{0} : address, access);
  } else {
    FaultTarget target;
    const Block* live = blocks_.around(address);
    if (const Block* block = live ? live : blocks_.freed_around(address)) {
      target = {live ? FaultTarget::Kind::live : FaultTarget::Kind::freed, names_.text(block->name),
                address - block->start, block->requested_bytes};
    }
    append_device_fault(text, *card, address - map_.part(*card).start, target);
  }
  return std::string(text.view());
}

Report Server::report() const {
  const std::lock_guard lock(mutex_);
  Report report;
  account_.write(report, scheduler_.host_ps(), scheduler_.use());
  report.finished = account_.frozen();
  report.peak = {account_.peak_ps(), blocks_.at_peak(kPeakNames)};
  if (violation_) {
    report.violation_code = violation_->code;
    report.violation_text = violation_->text();
  }
  report.hazards = findings_.hazards();
  report.notes = findings_.notes();
  report.last_command = doing();
  report.crash_text = crash_text();
  return report;
}

}  // namespace labrig::sim
