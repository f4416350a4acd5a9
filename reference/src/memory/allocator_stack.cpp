#include "memory/allocator_stack.hpp"

#include "memory/uncached_allocator.hpp"

namespace labrig {
namespace {

// The settings, or in `problem` why they are wrong.
AllocatorSettings settings_or_problem(std::vector<std::string>& warnings, std::optional<Error>& problem) {
  try {
    return allocator_settings_of_environment(warnings);
  } catch (const Error& error) {
    problem = error;
    return {};
  }
}

std::unique_ptr<DeviceAllocator> base_allocator(DriverMemory& driver, const std::string& device_name, int device_index,
                                                const AllocatorSettings& settings) {
  if (caching_is_off()) return std::make_unique<UncachedAllocator>(driver, device_name, device_index);
  return std::make_unique<CachingAllocator>(driver, device_name, device_index, settings);
}

}  // namespace

AllocatorStack::AllocatorStack(DriverMemory& driver, const std::string& device_name, int device_index)
    : settings_(settings_or_problem(warnings_, settings_error_)),
      base_(base_allocator(driver, device_name, device_index, settings_)),
      caching_(dynamic_cast<CachingAllocator*>(base_.get())),
      retry_(*base_),
      scopes_(retry_),
      log_(scopes_) {}

void AllocatorStack::set_settings(AllocatorSettings settings) {
  settings_ = settings;
  settings_error_.reset();
  if (caching_) caching_->set_settings(std::move(settings));
}

std::vector<std::string> AllocatorStack::warnings() const {
  std::vector<std::string> all = warnings_;
  if (caching_) {
    for (std::string& warning : caching_->warnings()) all.push_back(std::move(warning));
  }
  return all;
}

}  // namespace labrig
