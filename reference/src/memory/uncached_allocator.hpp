// The allocator without a cache (PYTORCH_NO_CUDA_MEMORY_CACHING): every tensor is an allocation of the driver's, and
// every release waits for the card. Slow, and of use for tools that watch the driver. As in PyTorch it has no
// statistics, and record_stream is without effect, because the driver's free waits for all streams.
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>

#include "labrig/export.hpp"
#include "memory/device_allocator.hpp"
#include "memory/driver_memory.hpp"

namespace labrig {

class LABRIG_API UncachedAllocator final : public DeviceAllocator {
 public:
  UncachedAllocator(DriverMemory& driver, std::string device_name, int device_index)
      : driver_(driver), device_name_(std::move(device_name)), device_index_(device_index) {}
  Block* allocate(std::size_t bytes, std::uint16_t stream) override;
  void free(Block* block) override;
  void record_stream(Block*, std::uint16_t) override {}

 private:
  DriverMemory& driver_;
  const std::string device_name_;
  const int device_index_;
  std::mutex mutex_;
  std::unordered_map<Block*, std::unique_ptr<Block>> blocks_;
  std::size_t held_bytes_ = 0;
};

}  // namespace labrig
