// The allocators of one card in a row, as a device slot has them (device/slot.hpp):
//
//   log  ->  scopes  ->  retry  ->  caching allocator, or the one without cache  ->  driver
//
// Read next: adaptors.hpp, caching_allocator.hpp.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "memory/adaptors.hpp"
#include "memory/caching_allocator.hpp"
#include "memory/memory_log.hpp"

namespace labrig {

class AllocatorStack {
 public:
  // Reads the settings in the environment. When they are wrong, every allocation throws that error until the program
  // sets its own.
  AllocatorStack(DriverMemory& driver, const std::string& device_name, int device_index);

  // Where tensors get their blocks.
  DeviceAllocator& top() {
    if (settings_error_) throw *settings_error_;
    return log_;
  }
  // Null when caching is off.
  CachingAllocator* caching() { return caching_; }
  RetryAdaptor& retry() { return retry_; }
  StatisticsAdaptor& scopes() { return scopes_; }
  LogAdaptor& log() { return log_; }

  void set_settings(AllocatorSettings settings);
  // Also those of the pinned allocator.
  AllocatorSettings settings() const { return settings_; }
  std::vector<std::string> warnings() const;

 private:
  std::vector<std::string> warnings_;  // of the environment
  std::optional<Error> settings_error_;
  AllocatorSettings settings_;
  std::unique_ptr<DeviceAllocator> base_;
  CachingAllocator* caching_;  // base_, when it caches
  RetryAdaptor retry_;
  StatisticsAdaptor scopes_;
  LogAdaptor log_;
};

}  // namespace labrig
