// Memory of a device as PyTorch counts it. `allocated` is what tensors hold (in blocks of the caching allocator),
// `reserved` is what the allocator holds from the driver; reserved far above allocated is caching, not a leak.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>

#include "labrig/device.hpp"
#include "labrig/export.hpp"

namespace labrig {

// All in bytes. 0 for a device that has not been used.
LABRIG_API std::size_t memory_allocated(Device device);
LABRIG_API std::size_t memory_reserved(Device device);
LABRIG_API std::size_t max_memory_allocated(Device device);
LABRIG_API std::size_t max_memory_reserved(Device device);
LABRIG_API void reset_peak_memory_stats(Device device);
// Returns cached blocks that nothing uses to the driver. Does not help an allocation that failed.
LABRIG_API void empty_cache(Device device);

// PyTorch's `memory_stats()`: flat dotted keys such as "allocated_bytes.all.peak".
LABRIG_API std::map<std::string, std::int64_t> memory_stats(Device device);

// Free and total bytes of the card, as the driver sees it (other processes included).
struct MemoryInfo {
  std::size_t free_bytes = 0, total_bytes = 0;
};
LABRIG_API MemoryInfo mem_get_info(Device device);

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
