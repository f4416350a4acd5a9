// The card: takes one record at a time, checks it, and lets it change memory, time and counters. Its client is not
// trusted: a record whose structure is wrong ends the service, one that asks for what it may not have is refused and
// the refusal stays. Nothing here depends on real time or real addresses.
//
//   consumer ──record──► Server ─┬─ decode     structure
//                                ├─ blocks     which bytes belong to which tensor
//                                ├─ scheduler  virtual time           ◄── prices (profile)
//                                ├─ memory     effects (kernels, copies)
//                                └─ account    metrics, charts ──► Report
//
// The handlers stand in server_memory.cpp, server_copies.cpp, server_launch.cpp and server_order.cpp.
#pragma once

#include <atomic>
#include <bitset>
#include <deque>
#include <mutex>
#include <optional>

#include "card/account.hpp"
#include "card/blocks.hpp"
#include "card/decode.hpp"
#include "card/device_memory.hpp"
#include "card/names.hpp"
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

  // From any thread, as report().
  bool stopped() const { return stopped_; }
  bool finished() const { return finished_; }  // the client said `finish`
  // Everything so far. From any thread.
  Report report() const;

 private:
  static constexpr std::uint64_t kBytesPerStep = 16;  // of a plain copy
  struct Card {
    Prices prices;
    RangeTable segments;
    std::bitset<kMaxStreams> streams_alive, streams_used;
  };
  struct Event {
    bool alive = false;
    MarkRef recorded;
  };
  // A pageable copy whose chunks are on their way.
  struct Transfer {
    bool active = false, refused = false;
    Command command;
    std::uint64_t address = 0, bytes = 0, done = 0, flags = 0;
    std::int64_t begin_ps = 0;
    std::deque<MarkRef> in_flight;
  };

  // --- server.cpp: dispatch -------------------------------------------------------------------------------------
  void carry_out(const Record& record);
  bool may_run(const Command& command);
  void refuse(Violation violation);
  void stop(Violation violation);
  std::string doing() const;  // what the current command is, for people
  std::string crash_text() const;
  void count_sync(CommandCause cause);
  // Real work, counted where the card has data: the same number on every machine. Refuses what is over the limit.
  bool spend_steps(std::uint64_t steps);
  bool spend_bytes(std::uint64_t bytes) { return spend_steps(bytes / kBytesPerStep); }
  bool stream_ok(const Command& command);
  Event* event_ok(std::uint64_t event);
  // The block that holds the bytes, on the command's card. Refuses otherwise; `who` starts the sentence.
  template <class Who>
  bool block_ok(const Command& command, std::uint64_t address, std::uint64_t bytes, Who who);
  bool pinned_ok(const std::string& who, std::uint64_t address, std::uint64_t bytes);
  std::optional<CommandCause> cause_ok(std::uint64_t cause);
  Card& card_of(const Command& command) { return cards_[command.header.device]; }
  std::string copy_name(const Command& command) const;

  // --- server_memory.cpp
  void define_name(const Record& record);
  void alloc_note(const Command& command);
  void free_note(const Command& command);
  void driver_malloc(const Command& command);
  void driver_free(const Command& command);
  void pinned_malloc(const Command& command);
  void pinned_free(const Command& command);
  void statistics(const Command& command);

  // --- server_copies.cpp
  void copy_pinned(const Command& command, bool up);
  void copy_within(const Command& command);
  void pageable_begin(const Command& command);
  void pageable_chunk(const Command& command);
  void copy_to_pageable(const Command& command);
  void count_hidden(std::uint64_t flags, std::uint64_t bytes);

  // --- server_launch.cpp
  void launch(const Command& command, const Record& record);
  bool operands_ok(const Command& command, const KernelCall& call, const std::uint32_t (&names)[kMaxOperands]);

  // --- server_order.cpp
  void stream_create(const Command& command);
  void stream_destroy(const Command& command);
  void event_command(const Command& command);  // create, destroy, record, wait
  void synchronize(const Command& command);    // stream, event, device
  void query(const Command& command);          // stream, event
  void elapsed(const Command& command);
  void host_work(const Command& command);
  void host_access(const Command& command);
  void begin(const Command& command);
  void finish(const Command& command);

  const MachineOptions options_;
  const Regions& regions_;
  const AddressMap map_;
  NameTable names_;
  BlockTable blocks_;
  Account account_;
  Scheduler scheduler_;
  DeviceMemory memory_;
  RangeTable arena_;
  std::vector<Card> cards_;
  std::vector<Event> events_;
  Transfer upload_, download_;
  std::uint64_t next_sequence_ = 0, commands_ = 0, case_steps_ = 0, real_bytes_ = 0, staged_ = 0;
  bool began_ = false;
  std::atomic<bool> stopped_{false}, finished_{false};
  std::optional<Violation> violation_;
  Command current_;
  Command last_;  // the last one that says something about the client
  std::uint16_t last_kernel_ = 0;
  Answer answer_;
  mutable std::mutex mutex_;
};

template <class Who>
bool Server::block_ok(const Command& command, std::uint64_t address, std::uint64_t bytes, Who who) {
  const auto card = map_.card_of(address);
  if (card == command.header.device && blocks_.holding(address, bytes) != nullptr) return true;
  if (card && *card != command.header.device) {
    refuse({"bad-address", who() + " memory of sim:" + std::to_string(*card),
            "the command is for sim:" + std::to_string(command.header.device),
            "use tensors of one device in one call"});
  } else {
    refuse(blocks_.missed(who(), address, bytes));
  }
  return false;
}

}  // namespace labrig::sim
