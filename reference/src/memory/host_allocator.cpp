// HostAllocator: what happens at a request, and what at a free.
#include "memory/host_allocator.hpp"

#include <algorithm>
#include <bit>
#include <utility>

#include "labrig/error.hpp"
#include "memory/out_of_memory.hpp"

namespace labrig {
namespace {

std::int64_t counted(std::size_t bytes) { return static_cast<std::int64_t>(bytes); }

}  // namespace

HostAllocator::HostAllocator(HostDriver& driver, std::string device_name)
    : driver_(driver), device_name_(std::move(device_name)) {}

std::size_t HostAllocator::block_bytes(std::size_t requested) const {
  constexpr std::size_t kLargestPower = std::size_t{1} << 63;
  const bool exact = requested > settings_.max_round_bytes || requested > kLargestPower;
  return exact ? requested : std::bit_ceil(requested);
}

HostAllocator::FreeList& HostAllocator::list_for(std::size_t bytes) {
  return free_[static_cast<std::size_t>(std::bit_width(bytes - 1))];
}

void* HostAllocator::allocate(std::size_t bytes, std::string_view name) {
  if (bytes == 0) return nullptr;
  const std::lock_guard lock(mutex_);
  process_events();
  const std::size_t rounded = block_bytes(bytes);
  Block* block = take_free(rounded);
  if (!block) block = take_from_driver(rounded);
  if (!block) {
    release_cached();
    block = take_from_driver(rounded);
  }
  if (!block) throw_out_of_memory(bytes, rounded);
  try {
    driver_.note_alloc(block->address, bytes, block->bytes, name);
  } catch (...) {
    list_for(block->bytes).push_back(block);
    throw;
  }
  block->requested = bytes;
  statistics_.active_requests.increase(1);
  statistics_.active_bytes.increase(counted(block->bytes));
  statistics_.requested_bytes.increase(counted(bytes));
  return block->address;
}

void HostAllocator::process_events() {
  while (!events_.empty()) {
    const PendingEvent oldest = events_.front();
    if (!driver_.query_event(oldest.card, oldest.event)) return;
    events_.pop_front();
    driver_.destroy_event(oldest.card, oldest.event);
    if (--oldest.block->events == 0) make_available(oldest.block);
  }
}

// The block of that size that was freed last. Without rounding a list holds several sizes; then any that is large
// enough will do.
HostAllocator::Block* HostAllocator::take_free(std::size_t bytes) {
  FreeList& list = list_for(bytes);
  const auto found =
      std::find_if(list.rbegin(), list.rend(), [&](const Block* block) { return block->bytes >= bytes; });
  if (found == list.rend()) return nullptr;
  Block* block = *found;
  list.erase(std::next(found).base());
  return block;
}

HostAllocator::Block* HostAllocator::take_from_driver(std::size_t bytes) {
  const std::int64_t start = driver_.clock_ns();
  auto* address = static_cast<std::byte*>(driver_.malloc(bytes));
  if (!address) return nullptr;
  statistics_.host_alloc_time.add((driver_.clock_ns() - start) / 1000);
  ++statistics_.num_host_alloc;
  statistics_.allocations.increase(1);
  statistics_.allocated_bytes.increase(counted(bytes));
  Block& block = blocks_[address];
  block.address = address;
  block.bytes = bytes;
  return &block;
}

void HostAllocator::free(void* address) {
  if (!address) return;
  const std::lock_guard lock(mutex_);
  Block& block = blocks_.at(address);
  driver_.note_free(address);
  statistics_.requested_bytes.decrease(counted(block.requested));
  block.requested = 0;
  for (const HostStream stream : std::exchange(block.streams, {})) {
    events_.push_back({stream.card, driver_.record_event(stream), &block});
    ++block.events;
  }
  if (block.events == 0) make_available(&block);
}

// Nothing uses the block any more.
void HostAllocator::make_available(Block* block) {
  statistics_.active_requests.decrease(1);
  statistics_.active_bytes.decrease(counted(block->bytes));
  if (block->bytes > settings_.max_cached_bytes) return give_back(block);
  list_for(block->bytes).push_back(block);
}

bool HostAllocator::record_use(const void* address, HostStream stream) {
  const std::lock_guard lock(mutex_);
  const auto found = blocks_.find(address);
  if (found == blocks_.end() || found->second.requested == 0) return false;
  std::vector<HostStream>& streams = found->second.streams;
  if (std::find(streams.begin(), streams.end(), stream) == streams.end()) streams.push_back(stream);
  return true;
}

void HostAllocator::empty_cache() {
  const std::lock_guard lock(mutex_);
  process_events();
  release_cached();
}

void HostAllocator::release_cached() {
  for (FreeList& list : free_) {
    while (!list.empty()) {
      Block* block = list.back();
      list.pop_back();
      give_back(block);
    }
  }
}

void HostAllocator::give_back(Block* block) {
  const std::int64_t start = driver_.clock_ns();
  driver_.free(block->address);
  statistics_.host_free_time.add((driver_.clock_ns() - start) / 1000);
  ++statistics_.num_host_free;
  statistics_.allocations.decrease(1);
  statistics_.allocated_bytes.decrease(counted(block->bytes));
  blocks_.erase(block->address);
}

void HostAllocator::set_settings(const PinnedSettings& settings) {
  const std::lock_guard lock(mutex_);
  settings_ = settings;
}

HostStatistics HostAllocator::statistics() const {
  const std::lock_guard lock(mutex_);
  return statistics_;
}

void HostAllocator::reset_peaks() {
  const std::lock_guard lock(mutex_);
  statistics_.reset_peaks();
}

void HostAllocator::throw_out_of_memory(std::size_t requested, std::size_t rounded) {
  const std::size_t limit = driver_.limit_bytes();
  const auto held = static_cast<std::size_t>(statistics_.active_bytes.current);
  const auto asked = static_cast<std::size_t>(statistics_.requested_bytes.current);
  std::string why = format_bytes(requested) + " were requested and take a block of " + format_bytes(rounded) +
                    (rounded == requested ? "" : ", since pinned blocks are powers of two") + "; blocks of " +
                    format_bytes(held) + " are in use for tensors that asked for " + format_bytes(asked);
  if (limit > 0) why += ", and " + device_name_ + " reaches at most " + format_bytes(limit) + " of pinned memory";
  std::string fix = "pin a few buffers once and use them again, instead of pinning every tensor";
  if (limit > 0 && requested > limit) {
    fix = "this can never fit: move the data in parts through a pinned buffer of a few MiB";
  } else if (limit > 0 ? asked + requested <= limit : rounded - requested + held - asked >= requested) {
    fix =
        "the rounding is what does not fit: pin sizes that are powers of two or slightly less, or set "
        "pinned_max_round_threshold_mb";
  }
  throw Error("out-of-pinned-memory", "CUDA error: out of memory: no pinned memory left for " + format_bytes(requested),
              std::move(why), std::move(fix));
}

}  // namespace labrig
