// Virtual time: the host clock, the streams, and three engines a card. A discrete-event simulation that looks at
// nothing but prices and order, so that its outcome does not depend on when it is run:
//
//   host     ──launch──launch────────sync……………………┐        charge(): the host's own time
//   compute          ▐ matmul ▌▐ add ▌           ▼        submit(): waits for its stream, its marks and its engine
//   up       ▐ copy ▌                                     wait_for(): the host sleeps until something is finished
//
// A start is final only when it is earlier than the host clock, a finish only when it is not later: whatever is
// submitted from now on is submitted at the host clock or after. Read next: server.hpp (who calls this).
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "card/units.hpp"
#include "profile.hpp"
#include "protocol/command.hpp"

namespace labrig::sim {

enum class Engine : std::uint8_t { compute, up, down, none };
inline constexpr int kEngines = 3;

// The finish of one operation, for those who wait for it.
struct Mark {
  bool done = false;
  std::int64_t time_ps = 0;
};
using MarkRef = std::shared_ptr<Mark>;

// What an operation is called on the timeline.
struct Label {
  std::string_view kind = {};  // a literal, or the name of a kernel
  std::uint32_t name = 0;
  std::uint64_t bytes = 0;
};

struct FinishedOperation {
  std::uint16_t device, stream;
  Engine engine;
  std::int64_t start_ps, end_ps;
  Label label;
};

struct EngineUse {
  std::array<std::int64_t, kEngines> busy_ps{};
  std::int64_t overlap_ps = 0;  // a copy while a kernel runs
};

class Scheduler {
 public:
  using Listener = std::function<void(const FinishedOperation&)>;

  // `listener` hears of every operation that used an engine, in order of finish.
  Scheduler(const std::vector<Profile>& cards, Listener listener);

  std::int64_t host_ps() const { return host_ps_; }
  void charge(std::int64_t ps) { host_ps_ = later(host_ps_, ps); }

  // A stream that is blocking takes part in the order of the default stream.
  void create_stream(std::uint16_t device, std::uint16_t stream, bool blocking);

  // An operation that keeps an engine busy for `duration_ps`.
  void submit(std::uint16_t device, std::uint16_t stream, Engine engine, std::int64_t duration_ps, const Label& label);
  // A copy to another card: keeps the engine `down` of its own card and `up` of the other busy for the same time.
  void submit_peer(std::uint16_t device, std::uint16_t stream, std::uint16_t other, std::int64_t duration_ps,
                   const Label& label);
  // The finish of the newest operation of the stream.
  MarkRef last(std::uint16_t device, std::uint16_t stream);
  // The finish of all work queued in the stream so far, as an operation of its own.
  MarkRef record(std::uint16_t device, std::uint16_t stream);
  void wait(std::uint16_t device, std::uint16_t stream, MarkRef mark);

  // Both look at the host clock as it stands.
  bool done(const Mark& mark);
  bool stream_done(std::uint16_t device, std::uint16_t stream);
  // The host clock moves to the finish, if that is later.
  void wait_for(const Mark& mark);
  void wait_for_stream(std::uint16_t device, std::uint16_t stream);
  void wait_for_device(std::uint16_t device);
  void wait_for_all();

  // Up to the last event that was simulated.
  const EngineUse& use() const { return use_; }
  void reset_use() { use_ = {}; }

 private:
  struct Card;
  struct Operation {
    Engine engine = Engine::none;
    std::int32_t other = -1;        // the other card of a copy between cards
    std::int64_t submitted_ps = 0;  // launch latency included
    std::int64_t duration_ps = 0;
    std::uint64_t sequence = 0;
    std::vector<MarkRef> after;
    MarkRef mark;  // where somebody asked for it
    Label label;
  };
  // What a stream has on an engine, or on two.
  struct Job {
    Engine engine = Engine::none;
    Card* card = nullptr;
    Card* other = nullptr;  // of a copy between cards
    std::int64_t start_ps = 0, finish_ps = 0;
    Wide remaining = 0;  // copies: ps x scale, at `settled_ps`
    std::int64_t scale = 1, settled_ps = 0;
  };
  struct Stream {
    bool exists = false, blocking = false, running = false, active = false;
    bool last_was_kernel = false;
    std::uint16_t device = 0, id = 0;
    std::int64_t last_finish_ps = 0;
    std::deque<Operation> queue;  // front: running, or next
    Job job;                      // while running
  };
  struct EngineState {
    Stream* running = nullptr;
    std::int64_t free_from_ps = 0;
  };
  struct Card {
    EngineState& engine(Engine which) { return engines[static_cast<std::size_t>(which)]; }
    bool busy(Engine which) const { return engines[static_cast<std::size_t>(which)].running != nullptr; }
    std::int64_t launch_latency_ps, kernel_gap_ps, numerator, denominator, queue_depth;
    std::array<EngineState, kEngines> engines;
    std::vector<std::unique_ptr<Stream>> streams;
    std::vector<Stream*> blocking;
    std::int64_t unfinished = 0;
    std::int64_t event_ps = 0;  // of the last event of this card
  };
  struct Start {
    Stream* stream = nullptr;
    std::int64_t start_ps = 0, ready_ps = 0;
  };

  Stream& stream_of(std::uint16_t device, std::uint16_t stream) { return *cards_[device].streams[stream]; }
  void append(Stream& stream, Operation&& operation);
  static MarkRef mark_of(Operation& operation);
  void obey_default_stream(Stream& stream, Operation& operation);
  void settle_streams();
  bool settle(Stream& stream);
  std::int64_t ready_ps(const Stream& stream) const;
  bool startable(const Stream& stream) const;

  // The next event. False when there is none, or when it is not final at `limit_ps`.
  bool step(std::int64_t limit_ps);
  bool find_start(Start& best);
  void start(const Start& start);
  void finish(Stream& stream);
  void account(Card& card, std::int64_t now_ps);
  static std::int64_t rate_of(const Job& job);
  void settle_copies(Card& card, std::int64_t now_ps);
  void replan_copies(Card& card, std::int64_t now_ps);
  void advance() {
    while (step(host_ps_)) {
    }
  }
  template <class Condition>
  void run_until(Condition condition);

  std::vector<Card> cards_;
  std::vector<Stream*> active_;  // streams with something in their queue
  Listener listener_;
  EngineUse use_;
  std::int64_t host_ps_ = 0;
  std::int64_t last_finish_ps_ = 0;
  std::uint64_t next_sequence_ = 0;
};

}  // namespace labrig::sim
