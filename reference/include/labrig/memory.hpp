// Memory of a device as PyTorch counts it. `allocated` is what tensors hold (in blocks of the caching allocator),
// `reserved` is what the allocator holds from the driver; reserved far above allocated is caching, not a leak.
// Names and meaning are those of torch.cuda.memory. The figures are for cards; the host has none and answers 0.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "labrig/device.hpp"
#include "labrig/error.hpp"
#include "labrig/export.hpp"

namespace labrig {

// --- figures, all in bytes; 0 for a device that has not been used ------------------------------------------------
LABRIG_API std::size_t memory_allocated(Device device);
LABRIG_API std::size_t memory_reserved(Device device);
LABRIG_API std::size_t max_memory_allocated(Device device);
LABRIG_API std::size_t max_memory_reserved(Device device);
// Of the allocator's cache: the largest request that it can serve without the driver.
LABRIG_API std::size_t largest_free_block(Device device);
// Every peak starts again from what is in use now.
LABRIG_API void reset_peak_memory_stats(Device device);
// Sums of everything allocated and freed, and the counters `num_...`, start again from 0; peaks stay.
LABRIG_API void reset_accumulated_memory_stats(Device device);
// Returns cached blocks that nothing uses to the driver. Does not help an allocation that failed.
LABRIG_API void empty_cache(Device device);

// PyTorch's `memory_stats()`: flat dotted keys such as "allocated_bytes.all.peak".
LABRIG_API std::map<std::string, std::int64_t> memory_stats(Device device);
// The same as JSON: {"allocated_bytes": {"all": {"current": …}}}.
LABRIG_API std::string memory_stats_as_nested_dict(Device device);
// PyTorch's table. Abbreviated: without the rows of the two pools.
LABRIG_API std::string memory_summary(Device device, bool abbreviated = false);

// Free and total bytes of the card, as the driver sees it (other processes included).
struct MemoryInfo {
  std::size_t free_bytes = 0, total_bytes = 0;
};
LABRIG_API MemoryInfo mem_get_info(Device device);

// --- what is where, and what happened ------------------------------------------------------------------------------
// JSON in the schema of torch.cuda.memory._snapshot(), which PyTorch's memory viewer reads: segments with their blocks,
// device_traces, allocator_settings. There are no stack frames, and time_us is not a time but the number of the event.
LABRIG_API std::string memory_snapshot(Device device);
// Keeps the last `max_entries` events of the allocator for memory_snapshot(). 0: keeps none and forgets.
LABRIG_API void record_memory_history(Device device, std::size_t max_entries = 100000);
// Who keeps the blocks of a card alive: one entry for each, by address.
struct MemoryHolders {
  const void* address = nullptr;
  std::size_t bytes = 0;  // of the block
  std::string name;       // of the first tensor there
  // In the order in which they came: "tensor 'x' f32[2, 3]", "gradient of 'fc1.weight'", "saved for backward by
  // ExpBackward0 in the graph of 'loss'", where 'loss' is what has to go so that the graph goes.
  std::vector<std::string> holders;
};
// No other thread may work with the device's tensors meanwhile. Empty for the host.
LABRIG_API std::vector<MemoryHolders> memory_holders(Device device);
// Writes every allocation and release from now on as a line `Thread,Time,Action,Pointer,Size,Stream` (RMM's format;
// Time is the number of the event, so that equal runs give equal files). An empty path ends the log. Throws `bad-file`.
LABRIG_API void log_memory(Device device, const std::string& path);

// --- settings ------------------------------------------------------------------------------------------------------
// PyTorch's settings string, e.g. "max_split_size_mb:128,expandable_segments:True"; what it does not name goes back to
// its default. A device starts with PYTORCH_ALLOC_CONF, else PYTORCH_CUDA_ALLOC_CONF, else "". The keys for pinned
// memory go to the allocator that all cards of the type share. Throws `invalid-allocator-setting`.
LABRIG_API void set_allocator_settings(Device device, const std::string& settings);
// What PyTorch would have warned of, in its words (nothing here prints).
LABRIG_API std::vector<std::string> allocator_warnings(Device device);
// The cache may hold at most this part of the card, 0 to 1, also after other settings. Throws
// `invalid-allocator-setting`.
LABRIG_API void set_per_process_memory_fraction(double fraction, Device device);

// --- when memory runs out ----------------------------------------------------------------------------------------
struct ProcessMemory {
  std::uint64_t pid = 0;
  std::size_t bytes = 0;
  bool is_this = false;  // this process
};

enum class OutOfMemoryVerdict : std::uint8_t {
  capacity,       // the card is too small for what lives on it, or for this one request
  fragmentation,  // the cache has enough, in pieces
  limit,          // a limit of this process refused it, the card has room
  shared,         // others hold more of the card than we do, and without them it would fit
  overflow,       // the size is a negative number, or the result of a multiplication that overflowed
  refused,        // the driver refused although enough is free
};
LABRIG_API const char* name_of(OutOfMemoryVerdict verdict);

// The numbers behind an out-of-memory error.
struct OutOfMemory {
  std::string device_name;  // "sim:0"
  int device_index = 0;
  std::size_t requested_bytes = 0;  // by the tensor
  std::size_t rounded_bytes = 0;    // the block for it
  std::size_t segment_bytes = 0;    // what the driver was asked for
  MemoryInfo card;
  std::optional<std::size_t> limit_bytes;
  std::size_t allocated_bytes = 0, reserved_bytes = 0;
  std::size_t largest_free_block_bytes = 0;  // in the cache
  std::vector<ProcessMemory> processes;      // that the driver tells of
  // Whose request it was: the operator, or the tensor by its name. An observer does not get it.
  std::string asked_by;
};

// Code `out-of-memory`; what() is PyTorch's text.
class LABRIG_API OutOfMemoryError : public Error {
 public:
  explicit OutOfMemoryError(OutOfMemory facts);
  ~OutOfMemoryError() override;
  const OutOfMemory& facts() const noexcept { return *facts_; }
  OutOfMemoryVerdict verdict() const noexcept { return verdict_; }

 private:
  std::shared_ptr<const OutOfMemory> facts_;  // shared by copies of the error
  OutOfMemoryVerdict verdict_;
};

// Called once for each out-of-memory error before it is thrown.
LABRIG_API void attach_out_of_memory_observer(Device device, std::function<void(const OutOfMemory&)> observer);
// Called with the bytes of a request that failed: true tries again, false lets the error go (RMM's failure callback).
// It may free tensors. An empty function takes it away.
LABRIG_API void set_out_of_memory_callback(Device device, std::function<bool(std::size_t bytes)> callback);

// --- counting in scopes ---------------------------------------------------------------------------------------------
struct MemoryCounter {
  std::int64_t current = 0;  // since the scope began; negative when more was freed than allocated
  std::int64_t peak = 0;     // the largest of `current`
  std::int64_t total = 0;    // of all that was allocated
};

struct MemoryCounters {
  MemoryCounter bytes;        // block bytes
  MemoryCounter allocations;  // blocks
};

// Counts what is allocated and freed on a device while it lives, on every thread. Scopes nest: a scope that ends hands
// its figures to the one around it, whose peak then includes the inner one's. The last one made must end first.
class LABRIG_API MemoryScope {
 public:
  explicit MemoryScope(Device device);
  ~MemoryScope();
  MemoryScope(const MemoryScope&) = delete;
  MemoryScope& operator=(const MemoryScope&) = delete;
  // Of this scope alone up to now, with what inner scopes have handed over.
  MemoryCounters counters() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// --- pinned host memory ----------------------------------------------------------------------------------------------
// All cards of a type share one allocator of pinned memory, so `device` says no more than the type. It keeps PyTorch's
// rules: blocks are powers of two, are never split, and are kept for the next request of their size.

// PyTorch's `host_memory_stats()`: "active_bytes.peak" and so on; of labrig's own beside it "requested_bytes.*", what
// tensors asked for before rounding. The times are in microseconds, of the virtual clock on `sim`.
LABRIG_API std::map<std::string, std::int64_t> host_memory_stats(Device device);
LABRIG_API void reset_peak_host_memory_stats(Device device);
// Unpins what no tensor holds and no copy still uses. On `sim` and `cuda` this waits for the cards.
LABRIG_API void empty_host_cache(Device device);

}  // namespace labrig
