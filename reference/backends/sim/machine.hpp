// The simulated machine as the rest of labrig sees it: how to start it (in this process, or as the process
// `labrig-device` with an untrusted worker as its client), how a worker attaches to it, and what it reports at the end.
//
//   supervisor                         worker
//     CardProcess  --- spawns --->  labrig-device  <=== ring, pages, arena (memfds) ===>  attach(handles)
//        ^------ Report (control channel) ---'
//
// or, for `labrig check --debug`, tests and programs of one's own:  InProcessMachine  =  both ends in one process.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "labrig/error.hpp"
#include "labrig/export.hpp"
#include "profile.hpp"

namespace labrig::sim {

// When an operation changes bytes: at its submission, or as late as the order of the program allows
// (docs/simulated-card.md). Clock, counters and hazards are the same in both.
enum class Mode : std::uint8_t { eager, late };

// The limits of one case (S10). Counted, so that the outcome is the same on every machine.
struct Limits {
  std::uint64_t commands = 50'000'000;
  std::uint64_t pending_operations = 40'000;
  std::uint64_t kernel_steps = std::uint64_t{1} << 30;
  std::uint64_t case_steps = std::uint64_t{1} << 36;
  std::uint64_t real_bytes = std::uint64_t{4} << 30;    // of device memory that really exists
  std::uint64_t pinned_bytes = std::uint64_t{1} << 30;  // the arena
  std::uint32_t trace_events = 4096;                    // kept for charts; all are counted
};

struct MachineOptions {
  std::vector<Profile> cards;  // sim:0, sim:1, …
  Mode mode = Mode::eager;
  bool data = true;          // false: cost-only (S12)
  bool reads_zeros = false;  // in a cost-only run: a value that is read is 0, and no error
  Limits limits;
};

// The metrics of a case, by the names of docs/architecture.md §6. All integers; times in picoseconds.
struct Metrics {
  std::uint64_t h2d_bytes = 0, h2d_copies = 0, d2h_bytes = 0, d2h_copies = 0;
  // Of h2d_bytes: by copies that were asked not to block, and of these from pinned memory, where they can.
  std::uint64_t h2d_non_blocking_bytes = 0, h2d_async_bytes = 0;
  std::uint64_t launches = 0, device_flops = 0, hidden_copies = 0, hidden_copy_bytes = 0;
  std::uint64_t syncs_explicit = 0, syncs_value = 0, syncs_copy = 0, syncs_implicit = 0;
  std::int64_t time_ps = 0;
  std::uint64_t peak_allocated_bytes = 0, peak_reserved_bytes = 0, pinned_peak_bytes = 0;  // the last: requested
  std::uint64_t pinned_taken_peak_bytes = 0;  // pinned memory that the driver has handed out
  std::uint64_t hazards = 0;
  std::uint64_t device_bytes = 0;  // that kernels read and wrote, as they are priced
  std::int64_t busy_compute_ps = 0, busy_up_ps = 0, busy_down_ps = 0, overlap_ps = 0;  // engine use; copy with compute
  // Of the loop: what lies between the first and the last mark of the lab (Call::mark_loop), or the whole call where it
  // sets none. Full stops are waits for all that a card does: synchronize(device), memory given back to the driver.
  std::uint64_t loop_full_stops = 0, loop_pinned_tensors = 0;
  std::int64_t loop_ps = 0;  // from the first mark until everything is done
  bool operator==(const Metrics&) const = default;
};
// Name and value of each metric, in the order of the report. `overlap` is overlap_ps.
LABRIG_API std::vector<std::pair<std::string, std::int64_t>> to_rows(const Metrics& metrics);

// One bar of the timeline.
struct Span {
  enum class Lane : std::uint8_t { host, compute, up, down } lane{};
  std::uint16_t device = 0, stream = 0;
  std::int64_t start_ps = 0, end_ps = 0;
  std::uint64_t bytes = 0;  // moved, for copies
  std::string name;         // "matmul", "copy features", "sync"
  // Why the host waits for the card here; none where it does not.
  enum class Wait : std::uint8_t { none, asked, value, copy, implicit } wait = Wait::none;
};
// One step of the memory curve.
struct MemoryPoint {
  std::int64_t time_ps = 0;
  std::uint64_t allocated_bytes = 0, reserved_bytes = 0, pinned_bytes = 0;
};

// What was alive when most was allocated.
struct Peak {
  struct Alive {
    std::string name;  // of the tensor, else of the kernel that made it; "unnamed" where none did
    std::uint64_t bytes = 0, count = 0;
    bool operator==(const Alive&) const = default;
  };
  std::int64_t time_ps = 0;
  std::vector<Alive> alive;  // by name, the largest first; at most 16, the last of which may be "others"
  bool operator==(const Peak&) const = default;
};

// Two accesses to the same bytes that nothing orders, of which one writes (S6, S7): all pairs of one kind between the
// same two names.
struct Hazard {
  enum class Kind : std::uint8_t { read_after_write, write_after_read, write_after_write, freed_in_flight } kind{};
  struct Side {
    std::string what;   // "kernel 'matmul(chunk, weights)'", "copy 'upload chunk'", "the host"
    bool host = false;  // then device and stream say nothing
    std::uint16_t device = 0, stream = 0;
    std::uint64_t operation = 0;  // number of the operation in the order of submission
  } earlier, later;
  std::string buffer;                   // the tensor that both touch
  std::uint64_t offset = 0, bytes = 0;  // the first range of the first pair, in that tensor
  std::uint64_t count = 0;              // pairs in this group
  std::string text;                     // three lines: what, why, fix
  std::int64_t time_ps = 0;             // the host's clock when the later one of the first pair was submitted
};

struct Report {
  Metrics metrics;  // between `begin` (or the start) and `finish` (or the end of the client)
  std::vector<std::uint64_t> peak_allocated_bytes_by_card;  // of each card alone, at its own moment
  std::vector<Span> timeline;                               // the first Limits::trace_events
  std::vector<MemoryPoint> memory;
  Peak peak;  // of all cards together
  // At most 20 groups; Metrics::hazards counts every pair. Both are empty in a program whose order is right.
  std::vector<Hazard> hazards;
  // What is odd but legal, one line each, at most 20: bytes read that nothing has written, possible hazards.
  std::vector<std::string> notes;
  bool finished = false;  // the client said `finish`
  // Why the machine stopped or refused: code is one of protocol-error, over-limit, bad-address, use-after-free,
  // out-of-bounds, bad-handle, bad-shape, no-data (a value read in a cost-only run), after-finish (work given to the
  // card after the region); empty when nothing was wrong. The text has three lines: what, why, fix.
  std::string violation_code, violation_text;
  std::string last_command;  // what the client was doing
  // Filled from the crash record of the worker page: a claim, already worded with the card's own blocks.
  std::string crash_text;
};

// What a worker needs to attach: inherited descriptors (closed by attach) and the base address.
struct Handles {
  int device_page_fd = -1, worker_page_fd = -1, arena_fd = -1;
  std::uint64_t base = 0;
  std::vector<std::uint64_t> capacity_bytes;  // of each card
  std::uint64_t arena_bytes = 0;
  std::vector<std::string> card_names;
  std::vector<std::string> without_bf16;  // of each card: "compute capability 7.5", or empty where it has bf16
  bool data = true;
  Mode mode = Mode::eager;
};

// Run by the supervisor: the card as a process of its own. The destructor kills it.
class LABRIG_API CardProcess {
 public:
  // `program` is the path of labrig-device. Throws Error `card-not-started`.
  CardProcess(const std::filesystem::path& program, const MachineOptions& options);
  ~CardProcess();
  CardProcess(const CardProcess&) = delete;
  CardProcess& operator=(const CardProcess&) = delete;

  const Handles& handles() const;
  // After the worker has been spawned: closes this side's copies and lets the card watch for the worker's death.
  void worker_started(int worker_pid);
  // Waits for the card's report, after the worker has ended. Nothing when the card died or the time
  // ran out: a fault of ours, never the student's.
  std::optional<Report> report(int timeout_ms);
  int pid() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// Run by the worker, once, before the submission is loaded: maps the regions, closes the descriptors, installs the
// crash handler (S9), registers sim:0 … with the core.
LABRIG_API void attach(const Handles& handles);
// Commands that frame the graded region: metrics start at `begin`, stop at `finish` (which synchronises every stream
// first; afterwards results can still be read, uncounted, and nothing else).
LABRIG_API void begin_region();
LABRIG_API void finish_region();
// Whether a thread other than the one that attached has given the card work. Values are right then, but time is ordered
// by arrival. What the worker says of itself; a worker that lies about it gains no order that would be faster.
LABRIG_API bool driven_from_threads();

// Both ends in this process: the card runs as a thread. Attaches on construction, detaches on destruction.
class LABRIG_API InProcessMachine {
 public:
  explicit InProcessMachine(const MachineOptions& options);
  ~InProcessMachine();
  InProcessMachine(const InProcessMachine&) = delete;
  InProcessMachine& operator=(const InProcessMachine&) = delete;
  // A snapshot of everything so far; does not end the machine.
  Report report();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace labrig::sim
