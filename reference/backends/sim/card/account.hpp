// The graded counters: what was moved, launched, waited for and held between `begin` and `finish`, and the first few
// thousand bars and steps of the charts. Read next: server.hpp (who counts what).
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "card/names.hpp"
#include "card/scheduler.hpp"
#include "machine.hpp"

namespace labrig::sim {

class Account {
 public:
  Account(std::size_t cards, std::uint32_t trace_events, const NameTable& names)
      : trace_events_(trace_events), names_(names), by_card_(cards) {}

  // Starts again from nothing, with peaks at what is held now; times are told from `now_ps` on.
  void begin(std::int64_t now_ps);
  void freeze() { frozen_ = true; }
  bool frozen() const { return frozen_; }

  // For adding to a counter. After `freeze` what is added is lost.
  Metrics& count() { return frozen_ ? ignored_ : metrics_; }

  // Changes of what is held, in bytes; negative for less. True when more tensors are held than ever before.
  bool hold_allocated(std::size_t card, std::int64_t bytes, std::int64_t now_ps);
  void hold_reserved(std::int64_t bytes, std::int64_t now_ps) {
    hold(reserved_, metrics_.peak_reserved_bytes, bytes, now_ps);
  }
  void hold_pinned(std::int64_t bytes, std::int64_t now_ps) {
    hold(pinned_, metrics_.pinned_peak_bytes, bytes, now_ps);
  }
  void hold_pinned_taken(std::int64_t bytes) {
    pinned_taken_ += static_cast<std::uint64_t>(bytes);
    if (!frozen_) metrics_.pinned_taken_peak_bytes = std::max(metrics_.pinned_taken_peak_bytes, pinned_taken_);
  }

  void add_host_span(std::string name, std::int64_t start_ps, std::int64_t end_ps, std::uint16_t device,
                     std::uint16_t stream, std::uint64_t bytes = 0, Span::Wait wait = Span::Wait::none);
  void add_marker(const std::string& name, std::int64_t now_ps) {
    add_span({Span::Lane::host, 0, 0, now_ps, now_ps, 0, name, Span::Wait::none});
  }
  void add_operation(const FinishedOperation& operation);
  // The loop whose counters are `loop_…` starts with the first mark, and so far ends with this one.
  void mark_loop(std::int64_t now_ps);

  // The time of a moment as reports tell it.
  std::int64_t since_begin(std::int64_t now_ps) const { return now_ps - begin_ps_; }
  // When the most was allocated, as reports tell it.
  std::int64_t peak_ps() const { return peak_ps_; }

  // Metrics, charts; times are as of `now_ps` and `use` unless frozen.
  void write(Report& report, std::int64_t now_ps, const EngineUse& use) const;
  // Takes the values that grow until the end.
  void close(std::int64_t now_ps, const EngineUse& use);

 private:
  void hold(std::uint64_t& held, std::uint64_t& peak, std::int64_t bytes, std::int64_t now_ps);
  void add_memory_point(std::int64_t now_ps);
  void close_loop(std::int64_t now_ps);
  void add_span(Span span);

  struct Held {
    std::uint64_t bytes = 0, peak_bytes = 0;
  };

  std::uint32_t trace_events_;
  const NameTable& names_;
  Metrics metrics_, ignored_;
  bool frozen_ = false;
  std::int64_t begin_ps_ = 0, peak_ps_ = 0;
  // What was counted at a mark.
  struct LoopMark {
    std::int64_t time_ps;
    std::uint64_t full_stops, pinned_tensors;
  };
  std::optional<LoopMark> loop_start_, loop_end_;
  std::uint64_t allocated_ = 0, reserved_ = 0, pinned_ = 0, pinned_taken_ = 0;
  std::vector<Held> by_card_;  // of what is allocated
  std::vector<Span> timeline_;
  std::vector<MemoryPoint> memory_;
};

}  // namespace labrig::sim
