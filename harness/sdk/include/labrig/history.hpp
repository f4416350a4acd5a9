// The memory history of a training run on one card: what was read at points of the run, who held the memory there, and
// how it ended. Plain data, for lab `oom-triage` (which records such histories from real loops) and for `labrig triage`
// (which diagnoses them). As JSON: schema labrig.history/1, the same names (docs/triage.md). All sizes are bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace labrig {

struct HistoryCard {
  std::size_t total_bytes = 0;
  std::size_t context_bytes = 0;  // what the driver keeps for this process, outside the allocator
};

// One reading. Rows are in the order of time.
struct HistoryRow {
  std::int64_t step = 0;                     // of the training loop; evaluation has the step that it follows
  std::string phase;                         // "load", "resume", "train", "eval"
  std::int64_t batch = 0;                    // samples in this step; 0 where there is none
  std::size_t allocated_bytes = 0;           // held by tensors
  std::size_t reserved_bytes = 0;            // held by the allocator from the driver
  std::size_t peak_allocated_bytes = 0;      // since the reading before
  std::size_t free_bytes = 0;                // of the card, as the driver sees it
  std::size_t largest_free_block_bytes = 0;  // in the allocator's cache
};

// Who held memory when the reading `row` was made: blocks that one operator made in one phase.
struct HistoryOwner {
  std::int64_t row = 0;
  std::string op;     // "linear", "relu", "Adam", "checkpoint": what made them
  std::string phase;  // when they were made
  std::int64_t blocks = 0;
  std::size_t bytes = 0;
};

// The request that failed, after the last row.
struct HistoryFailure {
  std::int64_t step = 0;
  std::string phase, op;            // what asked
  std::size_t requested_bytes = 0;  // by the tensor
  std::size_t segment_bytes = 0;    // what the driver was asked for
  // At that moment, after the allocator had given back what it could.
  std::size_t allocated_bytes = 0, reserved_bytes = 0, free_bytes = 0, largest_free_block_bytes = 0;
};

struct MemoryHistory {
  HistoryCard card;
  std::vector<HistoryRow> rows;
  std::vector<HistoryOwner> owners;
  std::optional<HistoryFailure> failure;  // none: the run went on
};

// What is wrong in a history. The names are those of the JSON, with `_`.
enum class MemoryCause : std::uint8_t {
  healthy,             // nothing: reserved far above allocated is caching
  other_process,       // others hold the card
  eval_without_no_grad,
  losses_keep_graph,   // losses kept with the graph of their step
  outputs_kept,        // results kept on the card
  batch_too_big,       // steady, and no room
  fragmentation,       // enough is free, in pieces
  operator_spike,      // one operator asks for far more than the step holds
  resume_loads_state,  // a checkpoint's tensors stay beside model and optimizer
};

}  // namespace labrig
