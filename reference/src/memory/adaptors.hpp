// Adaptors stand in front of an allocator and have its interface, so that they can be put in a row in any order. Each
// does one thing; RMM's resource adaptors are the model.
//
//   tensor -> LogAdaptor -> StatisticsAdaptor -> RetryAdaptor -> CachingAllocator -> driver
//
// An adaptor refers to the allocator behind it, which must outlive it. All may be used from several threads.
#pragma once

#include <atomic>
#include <functional>
#include <mutex>
#include <vector>

#include "labrig/export.hpp"
#include "labrig/memory.hpp"
#include "memory/device_allocator.hpp"

namespace labrig {

// Passes everything on. Base of the adaptors.
class AllocatorAdaptor : public DeviceAllocator {
 public:
  explicit AllocatorAdaptor(DeviceAllocator& upstream) : upstream_(upstream) {}
  Block* allocate(std::size_t bytes, std::uint16_t stream) override { return upstream_.allocate(bytes, stream); }
  void free(Block* block) override { upstream_.free(block); }
  void record_stream(Block* block, std::uint16_t stream) override { upstream_.record_stream(block, stream); }

 private:
  DeviceAllocator& upstream_;
};

// Refuses what would bring the sum of all live requests (each rounded up to 512 bytes) above a limit. The sum says
// nothing about what still fits: the allocator behind it has its own rounding.
class LABRIG_API LimitAdaptor final : public AllocatorAdaptor {
 public:
  LimitAdaptor(DeviceAllocator& upstream, std::size_t limit_bytes)
      : AllocatorAdaptor(upstream), limit_bytes_(limit_bytes) {}
  // Throws Error `memory-limit`.
  Block* allocate(std::size_t bytes, std::uint16_t stream) override;
  void free(Block* block) override;
  std::size_t allocated_bytes() const { return allocated_bytes_; }

 private:
  const std::size_t limit_bytes_;
  std::atomic<std::size_t> allocated_bytes_{0};
};

// Counts in scopes that nest: each allocation changes the innermost scope only, and a scope that ends is folded into
// the one around it. Without a scope it counts nothing.
//
//   scope A   +3 -1 |                            | A so far: current 2, peak 3
//   scope B         | +4 -4   current 0, peak 4  | folded:   current 2, peak 2 + 4 = 6
class LABRIG_API StatisticsAdaptor final : public AllocatorAdaptor {
 public:
  using AllocatorAdaptor::AllocatorAdaptor;
  Block* allocate(std::size_t bytes, std::uint16_t stream) override;
  void free(Block* block) override;
  // Begins a scope; its depth is the number to ask counters() with.
  std::size_t push();
  // Ends the innermost scope. Throws Error `no-memory-scope` when there is none.
  MemoryCounters pop();
  MemoryCounters counters(std::size_t depth) const;

 private:
  void count(std::int64_t bytes, std::int64_t blocks);

  std::atomic<bool> counting_{false};
  mutable std::mutex mutex_;
  std::vector<MemoryCounters> scopes_;
};

// When the allocator behind it runs out of memory, asks a callback whether to try again.
class LABRIG_API RetryAdaptor final : public AllocatorAdaptor {
 public:
  using AllocatorAdaptor::AllocatorAdaptor;
  Block* allocate(std::size_t bytes, std::uint16_t stream) override;
  void set_callback(std::function<bool(std::size_t bytes)> callback);

 private:
  std::mutex mutex_;
  std::function<bool(std::size_t)> callback_;
};

}  // namespace labrig
