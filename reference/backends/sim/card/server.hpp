// The card: takes one record at a time, checks it, and lets it change memory, time and counters. Its client is not
// trusted: a record whose structure is wrong ends the service, one that asks for what it may not have is refused and
// the refusal stays. Nothing here depends on real time or real addresses.
//
//   consumer ──record──► Server ─┬─ decode     structure
//                                ├─ blocks     which bytes belong to which tensor
//                                ├─ scheduler  virtual time           ◄── prices (profile)
//                                ├─ ledger     order: who must come before whom, and who forgot to wait
//                                ├─ effects    what happens to bytes, and when ──► memory, kernels
//                                └─ account    metrics, charts ──► Report
//
// The handlers stand in server_memory.cpp, server_pages.cpp, server_copies.cpp, server_launch.cpp and server_order.cpp;
// what an operation is to ledger and effects in server_operations.cpp.
#pragma once

#include <array>
#include <atomic>
#include <bitset>
#include <deque>
#include <mutex>
#include <optional>

#include "card/account.hpp"
#include "card/blocks.hpp"
#include "card/decode.hpp"
#include "card/device_memory.hpp"
#include "card/effects.hpp"
#include "card/findings.hpp"
#include "card/ledger.hpp"
#include "card/names.hpp"
#include "card/page_table.hpp"
#include "card/prices.hpp"
#include "card/ranges.hpp"
#include "card/scheduler.hpp"
#include "card/violation.hpp"
#include "machine.hpp"
#include "protocol/regions.hpp"

namespace labrig::sim {

// The answer to a two-way command.
struct Answer {
  ReplyStatus status = ReplyStatus::ok;
  std::uint64_t value[4] = {};
  const Violation* violation = nullptr;  // where refused
};

class Server {
 public:
  // `regions` must outlive the server.
  Server(const MachineOptions& options, const Regions& regions);

  // Carries a record out; `granules` is the length with which it was copied. The answer, for a two-way command.
  std::optional<Answer> process(const Record& record, std::uint64_t granules);
  // Ends the service because the ring itself is damaged.
  void stop_for_damage(const std::string& what);

  // From any thread: the client is gone, so what is still in its queue is checked, timed and counted only.
  void drop_effects() { effects_.drop(); }

  // From any thread, as report().
  bool stopped() const { return stopped_; }
  // Everything so far. From any thread.
  Report report() const;
  // For the device page: what the host is ordered after.
  const Clock& frontier() const { return ledger_.order().frontier(); }

 private:
  static constexpr std::uint64_t kBytesPerStep = 16;  // of a plain copy
  static constexpr std::size_t kMaxLedgerRanges = std::size_t{1} << 19, kMaxLedgerEntries = std::size_t{1} << 21;
  // Far more pieces of memory than any real program has; they bound the card's own tables.
  static constexpr std::size_t kMaxRanges = 4'096;
  struct Card {
    Prices prices;
    RangeTable addresses;  // the driver's segments, and the ranges that programs reserve
    PageTable pages;       // which of them are ranges, and where these have memory
    // What this program holds of the card.
    std::uint64_t taken_bytes() const {
      return addresses.taken_bytes() - pages.reserved_bytes() + pages.mapped_bytes();
    }
    std::bitset<kMaxStreams> streams_alive, streams_used;
    std::array<StreamIndex, kMaxStreams> stream_index{};  // of the streams that were used
  };
  struct Event {
    bool alive = false, timing = true;
    MarkRef recorded;  // null: never
    Clock order;       // of what was recorded
  };
  // A worker of a loader: a host thread that exists only as a clock.
  struct Worker {
    std::int64_t free_from_ps = 0;
    std::deque<std::int64_t> finish_ps;  // of the jobs that were not taken yet
  };
  // A pageable copy whose chunks are on their way.
  struct Transfer {
    bool active = false, refused = false;
    Command command;
    std::uint64_t address = 0, bytes = 0, done = 0, flags = 0;
    std::int64_t begin_ps = 0;
    std::deque<MarkRef> in_flight;
    Operation operation;
    Effect effect;
  };

  // --- server.cpp: dispatch -------------------------------------------------------------------------------------
  void carry_out(const Record& record);
  bool may_run(const Command& command);
  void refuse(Violation violation);
  void stop(Violation violation);
  std::string doing() const;  // what the current command is, for people
  std::string crash_text() const;
  void count_sync(CommandCause cause);
  // How charts call what count_sync counts.
  static Span::Wait wait_of(CommandCause cause);
  void count_full_stop() { ++account_.count().loop_full_stops; }
  // Real work, counted where the card has data: the same number on every machine. Refuses what is over the limit.
  bool spend_steps(std::uint64_t steps);
  bool spend_bytes(std::uint64_t bytes) { return spend_steps(bytes / kBytesPerStep); }
  bool stream_ok(const Command& command);
  Event* event_ok(std::uint64_t event);
  // The block that holds the bytes, on that card. Refuses otherwise; `subject` starts the sentence.
  template <class Subject>
  Block* block_ok(std::uint16_t device, std::uint64_t address, std::uint64_t bytes, Subject subject);
  Block* pinned_block_ok(const std::string& subject, std::uint64_t address, std::uint64_t bytes);
  std::optional<CommandCause> cause_ok(std::uint64_t cause);
  Card& card_of(const Command& command) { return cards_[command.header.device]; }
  std::string copy_name(const Command& command) const;

  // --- server_operations.cpp
  bool late() const { return options_.mode == Mode::late && memory_.has_data(); }
  StreamIndex stream_index(const Command& command) const {
    return cards_[command.header.device].stream_index[command.header.stream];
  }
  std::size_t arena_space() const { return cards_.size(); }
  // The operation reads or writes these ranges of the block. Reads must come first.
  void touch(Effect& effect, const Who& who, std::size_t space, Block& block, std::span<const ByteRange> runs,
             bool write, bool possible, std::uint32_t name);
  void touch(Effect& effect, const Who& who, std::size_t space, Block& block, const ByteRange& range, bool write,
             std::uint32_t name = 0) {
    touch(effect, who, space, block, {&range, 1}, write, false, name);
  }
  // Puts the operation that touches what was told by touch() into the command's stream; `effect` learns what of it is
  // poisoned.
  Operation enter(const Command& command, const Who& who, Effect& effect);
  void bound_ledger();
  void poison(const Conflict& conflict, Effect& effect);
  // Now, or late.
  void carry_out(const Operation& operation, Effect&& effect);
  void count_hazards(Later later, std::span<const MemoryAccess> accesses);
  // The host is ordered after more than before.
  void frontier_moved() {
    if (late()) effects_.reach(frontier());
  }

  // --- server_memory.cpp
  void define_name(const Record& record);
  void alloc_note(const Command& command);
  void free_note(const Command& command);
  void name_note(const Command& command);
  void pinned_note(const Command& command);
  void pinned_free_note(const Command& command);
  void driver_malloc(const Command& command);
  void driver_free(const Command& command);
  static Violation too_many(const std::string& what, std::size_t limit);
  // Whether the card has so many bytes left. Refuses what is over the limit of real memory.
  bool has_room(const Card& card, std::uint64_t bytes);
  void hold_driver_memory(std::uint64_t bytes);
  void let_driver_memory_go(std::uint64_t address, std::uint64_t bytes);
  void pinned_malloc(const Command& command);
  void pinned_free(const Command& command);
  void statistics(const Command& command);

  // --- server_pages.cpp
  void driver_reserve(const Command& command);
  void driver_release(const Command& command);
  void driver_map(const Command& command);
  void driver_unmap(const Command& command);
  bool pages_ok(const Command& command);
  void refuse_pages(const Command& command, const std::string& why);

  // --- server_copies.cpp
  void copy_pinned(const Command& command, bool up);
  void copy_within(const Command& command);
  void copy_peer(const Command& command);
  void copy_on_cards(const Command& command, Who::Kind kind, Block& from, Block& to, std::uint16_t destination);
  Who copy_who(const Command& command, Who::Kind kind, const Block& from, const Block& to) const;
  void finish_upload();
  void read_to_staging(std::uint64_t source, std::uint64_t bytes);
  void pageable_begin(const Command& command);
  void pageable_chunk(const Command& command);
  void copy_to_pageable(const Command& command);
  void count_hidden(std::uint64_t flags, std::uint64_t bytes);
  void count_upload(std::uint64_t flags, std::uint64_t bytes, bool pinned);
  void count_download(std::uint64_t bytes);

  // --- server_launch.cpp
  void launch(const Command& command, const Record& record);
  bool operands_ok(const Command& command, const KernelCall& call, const std::uint32_t (&names)[kMaxOperands],
                   Block* (&blocks)[kMaxOperands]);
  Operation enter_launch(const Command& command, const KernelCall& call, const std::uint32_t (&names)[kMaxOperands],
                         Block* (&blocks)[kMaxOperands], Effect& effect);
  // A kernel met an index out of range: CUDA's device-side assert, after which a card does nothing any more.
  void assert_in_kernel(const Effect& effect, const kernels::BadIndex& bad);

  // --- server_order.cpp
  void stream_create(const Command& command);
  void stream_destroy(const Command& command);
  void event_command(const Command& command);  // create, destroy, record, wait
  void synchronize(const Command& command);    // stream, event, device
  void query(const Command& command);          // stream, event
  void elapsed(const Command& command);
  void host_work(const Command& command);
  void mark(const Command& command);
  // server_jobs.cpp
  void job(const Command& command);
  void take_job(const Command& command);
  void close_worker(const Command& command);
  Worker* worker_ok(const Command& command);
  void host_access(const Command& command);
  void fetch_note(const Command& command);
  void begin(const Command& command);
  void finish(const Command& command);

  const MachineOptions options_;
  const Regions& regions_;
  const AddressMap map_;
  NameTable names_;
  BlockTable blocks_, pinned_blocks_;
  Account account_;
  Scheduler scheduler_;
  DeviceMemory memory_;
  Ledger ledger_;
  Effects effects_;
  Findings findings_;
  std::vector<MemoryAccess> accesses_;  // of the operation in the making
  std::vector<ByteRange> runs_, parts_;
  RangeTable arena_;
  Block raw_pinned_;
  std::vector<Card> cards_;
  std::vector<Event> events_;
  std::array<Worker, kMaxWorkers> workers_;
  Transfer upload_, download_;
  std::uint64_t next_sequence_ = 0, commands_ = 0, launches_ = 0, case_steps_ = 0, real_bytes_ = 0, staged_ = 0;
  bool began_ = false;
  std::atomic<bool> stopped_{false};
  std::optional<Violation> violation_;
  Command current_;
  Command last_;  // the last one that says something about the client
  std::uint16_t last_kernel_ = 0;
  Answer answer_;
  mutable std::mutex mutex_;
};

template <class Subject>
Block* Server::block_ok(std::uint16_t device, std::uint64_t address, std::uint64_t bytes, Subject subject) {
  const auto card = map_.card_of(address);
  if (card == device) {
    if (Block* block = blocks_.holding(address, bytes)) return block;
  }
  if (card && *card != device) {
    refuse({"bad-address", subject() + " memory of sim:" + std::to_string(*card),
            "the command is for sim:" + std::to_string(device), "use tensors of one device in one call"});
  } else {
    refuse(blocks_.missed(subject(), address, bytes));
  }
  return nullptr;
}

}  // namespace labrig::sim
