// The public figures and switches of device memory. A device that has not been used is not opened to answer a question,
// only to set something.
#include "labrig/memory.hpp"

#include <algorithm>
#include <charconv>
#include <fstream>

#include "device/registry.hpp"
#include "memory/summary.hpp"

namespace labrig {
namespace {

AllocatorStatistics statistics_of(Device device) {
  const auto slot = open_slot(device);
  return slot && slot->allocator() ? slot->allocator()->statistics() : AllocatorStatistics{};
}

std::size_t bytes(std::int64_t value) { return static_cast<std::size_t>(value); }

// Of a card. Throws for the host, which has no such allocator.
AllocatorStack& allocators_of(const DeviceSlot& slot, const char* what) {
  slot.backend();  // throws when it is gone
  if (AllocatorStack* allocators = slot.allocators()) return *allocators;
  throw Error("invalid-device", std::string(what) + " is for cards, not for " + slot.device().str(),
              "tensors on the host get their memory from the host's malloc", "name a card, for example sim:0");
}

// "1.5", and "2.0" for a whole number, as Python writes it.
std::string python_text(double value) {
  char text[40];
  const auto end = std::to_chars(text, text + sizeof text, value).ptr;
  std::string result(text, end);
  if (result.find_first_not_of("-0123456789") == std::string::npos) result += ".0";
  return result;
}

}  // namespace

// --- figures ---------------------------------------------------------------------------------------------------------

std::size_t memory_allocated(Device device) { return bytes(statistics_of(device).allocated_bytes.all().current); }
std::size_t memory_reserved(Device device) { return bytes(statistics_of(device).reserved_bytes.all().current); }
std::size_t max_memory_allocated(Device device) { return bytes(statistics_of(device).allocated_bytes.all().peak); }
std::size_t max_memory_reserved(Device device) { return bytes(statistics_of(device).reserved_bytes.all().peak); }

std::size_t largest_free_block(Device device) {
  const auto slot = open_slot(device);
  return slot && slot->allocator() ? slot->allocator()->largest_free_block() : 0;
}

void reset_peak_memory_stats(Device device) {
  const auto slot = open_slot(device);
  if (slot && slot->allocator()) slot->allocator()->reset_peaks();
}

void reset_accumulated_memory_stats(Device device) {
  const auto slot = open_slot(device);
  if (slot && slot->allocator()) slot->allocator()->reset_accumulated();
}

void empty_cache(Device device) {
  const auto slot = open_slot(device);
  if (slot && slot->allocator()) slot->allocator()->empty_cache();
}

std::map<std::string, std::int64_t> memory_stats(Device device) { return statistics_of(device).flatten(); }
std::string memory_stats_as_nested_dict(Device device) { return nested_json(statistics_of(device)); }

std::string memory_summary(Device device, bool abbreviated) {
  const int index = device.is_cpu() || device.has_index() ? std::max(device.index(), 0) : current_device(device.type());
  return summary_of(statistics_of(device), index, abbreviated);
}

MemoryInfo mem_get_info(Device device) { return slot_of(device)->backend().memory_info(); }

// --- what is where, and what happened ------------------------------------------------------------------------------

std::string memory_snapshot(Device device) {
  const auto slot = open_slot(device);
  return to_json(slot && slot->allocator() ? slot->allocator()->snapshot() : MemorySnapshot{});
}

void record_memory_history(Device device, std::size_t max_entries) {
  const auto slot = slot_of(device);
  allocators_of(*slot, "a memory history");
  if (slot->allocator()) slot->allocator()->record_history(max_entries);
}

void log_memory(Device device, const std::string& path) {
  const auto slot = slot_of(device);
  AllocatorStack& allocators = allocators_of(*slot, "a memory log");
  if (path.empty()) return allocators.log().start(nullptr);
  auto file = std::make_shared<std::ofstream>(path);
  if (!*file) {
    throw Error("bad-file", "cannot write the memory log " + path, "the file cannot be opened for writing",
                "name a file in a folder that exists and that you may write to");
  }
  allocators.log().start(std::move(file));
}

// --- settings ------------------------------------------------------------------------------------------------------

void set_allocator_settings(Device device, const std::string& settings) {
  const auto slot = slot_of(device);
  const AllocatorSettings parsed = parse_allocator_settings(settings);
  allocators_of(*slot, "an allocator setting").set_settings(parsed);
  const auto pinning = open_pinning_slot(slot->device().type());
  if (pinning && pinning->pinned_allocator()) pinning->pinned_allocator()->set_settings(parsed.pinned);
}

std::vector<std::string> allocator_warnings(Device device) {
  const auto slot = open_slot(device);
  return slot && slot->allocators() ? slot->allocators()->warnings() : std::vector<std::string>{};
}

void set_per_process_memory_fraction(double fraction, Device device) {
  if (!(fraction >= 0 && fraction <= 1)) {
    throw Error("invalid-allocator-setting",
                "Invalid fraction value: " + python_text(fraction) + ". Allowed range: 0~1",
                "the fraction is the part of the card that the cache may hold", "use 0.5 for half of the card");
  }
  const auto slot = slot_of(device);
  allocators_of(*slot, "a memory fraction");
  if (slot->allocator()) slot->allocator()->set_fraction(fraction);
}

// --- when memory runs out ------------------------------------------------------------------------------------------

void attach_out_of_memory_observer(Device device, std::function<void(const OutOfMemory&)> observer) {
  const auto slot = slot_of(device);
  allocators_of(*slot, "an out-of-memory observer");
  if (slot->allocator()) slot->allocator()->add_out_of_memory_observer(std::move(observer));
}

void set_out_of_memory_callback(Device device, std::function<bool(std::size_t)> callback) {
  const auto slot = slot_of(device);
  allocators_of(*slot, "an out-of-memory callback").retry().set_callback(std::move(callback));
}

// --- scopes --------------------------------------------------------------------------------------------------------

struct MemoryScope::State {
  std::shared_ptr<DeviceSlot> slot;
  std::size_t depth;
};

MemoryScope::MemoryScope(Device device) {
  auto slot = slot_of(device);
  const std::size_t depth = allocators_of(*slot, "a memory scope").scopes().push();
  state_ = std::make_unique<State>(State{std::move(slot), depth});
}

MemoryScope::~MemoryScope() {
  if (AllocatorStack* allocators = state_->slot->allocators()) allocators->scopes().pop();
}

MemoryCounters MemoryScope::counters() const {
  AllocatorStack* allocators = state_->slot->allocators();
  return allocators ? allocators->scopes().counters(state_->depth) : MemoryCounters{};
}

}  // namespace labrig
