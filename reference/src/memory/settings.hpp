// The settings of the caching allocator: PyTorch's keys, written as PyTorch writes them.
//
//   max_split_size_mb:128,garbage_collection_threshold:0.8,roundup_power2_divisions:[256:1,512:2,>:4]
//
// `key:value` pairs with commas between them; blanks do not matter. Read next: rounding.hpp, release.cpp (who uses
// them).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "labrig/export.hpp"

namespace labrig {

// Of the pinned allocator; parsed here because PyTorch has one string for both.
struct PinnedSettings {
  bool use_cuda_host_register = false;
  bool use_background_threads = false;
  std::size_t num_register_threads = 1;
  std::size_t max_round_bytes = std::numeric_limits<std::size_t>::max();   // larger requests are not rounded
  std::size_t max_cached_bytes = std::numeric_limits<std::size_t>::max();  // larger blocks are not kept
};

struct AllocatorSettings {
  static constexpr std::size_t kNoSplitLimit = std::numeric_limits<std::size_t>::max();
  static constexpr std::size_t kIntervals = 16;  // powers of two from 1 MiB on; the last one has no end

  std::string text;                                                  // as it was given
  std::size_t max_split_bytes = kNoSplitLimit;                       // blocks from here on are never split
  std::size_t max_non_split_rounding_bytes = std::size_t{20} << 20;  // waste allowed when such a block is used again
  std::array<std::size_t, kIntervals> divisions{};                   // 0 and 1: none
  double garbage_collection_threshold = 0;                           // of the allowed memory; 0: off
  std::optional<double> per_process_memory_fraction;                 // of the card
  bool expandable_segments = false;
  bool throw_on_cudamalloc_oom = false;
  bool release_lock_on_cudamalloc = false;  // accepted, without effect here
  PinnedSettings pinned;

  bool has_split_limit() const { return max_split_bytes != kNoSplitLimit; }
  // Of the interval in which a request of this size lies.
  LABRIG_API std::size_t divisions_for(std::size_t bytes) const;
};

// Throws `invalid-allocator-setting` with PyTorch's sentence. What the text does not name has its default.
LABRIG_API AllocatorSettings parse_allocator_settings(std::string_view text);

// From PYTORCH_ALLOC_CONF, else from PYTORCH_CUDA_ALLOC_CONF, which PyTorch calls deprecated: that sentence is then
// added to `warnings`.
LABRIG_API AllocatorSettings allocator_settings_of_environment(std::vector<std::string>& warnings);

// PYTORCH_NO_CUDA_MEMORY_CACHING is set: every allocation goes to the driver.
bool caching_is_off();

}  // namespace labrig
