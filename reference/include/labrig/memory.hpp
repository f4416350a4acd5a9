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

}  // namespace labrig
