#include "memory/adaptors.hpp"

#include <algorithm>

#include "labrig/error.hpp"
#include "memory/out_of_memory.hpp"
#include "memory/rounding.hpp"

namespace labrig {

// --- limit -----------------------------------------------------------------------------------------------------------

Block* LimitAdaptor::allocate(std::size_t bytes, std::uint16_t stream) {
  const std::size_t rounded = round_up_bytes(bytes, kMinBlockBytes);
  const std::size_t before = allocated_bytes_.fetch_add(rounded);
  if (before > limit_bytes_ || rounded > limit_bytes_ - before) {
    allocated_bytes_ -= rounded;
    throw Error("memory-limit", "Exceeded memory limit (failed to allocate " + format_bytes(bytes) + ")",
                format_bytes(before) + " of the " + format_bytes(limit_bytes_) + " that are allowed are in use",
                "let go of tensors before this line, or raise the limit");
  }
  try {
    return AllocatorAdaptor::allocate(bytes, stream);
  } catch (...) {
    allocated_bytes_ -= rounded;
    throw;
  }
}

void LimitAdaptor::free(Block* block) {
  const std::size_t rounded = round_up_bytes(block->requested, kMinBlockBytes);
  AllocatorAdaptor::free(block);
  allocated_bytes_ -= rounded;
}

// --- scopes ----------------------------------------------------------------------------------------------------------

namespace {

void add(MemoryCounter& counter, std::int64_t amount) {
  counter.current += amount;
  if (amount > 0) counter.total += amount;
  counter.peak = std::max(counter.peak, counter.current);
}

void fold(MemoryCounter& outer, const MemoryCounter& inner) {
  outer.peak = std::max(outer.peak, outer.current + inner.peak);
  outer.current += inner.current;
  outer.total += inner.total;
}

}  // namespace

Block* StatisticsAdaptor::allocate(std::size_t bytes, std::uint16_t stream) {
  Block* block = AllocatorAdaptor::allocate(bytes, stream);
  if (counting_.load(std::memory_order_relaxed)) count(static_cast<std::int64_t>(block->bytes), 1);
  return block;
}

void StatisticsAdaptor::free(Block* block) {
  if (counting_.load(std::memory_order_relaxed)) count(-static_cast<std::int64_t>(block->bytes), -1);
  AllocatorAdaptor::free(block);
}

void StatisticsAdaptor::count(std::int64_t bytes, std::int64_t blocks) {
  const std::lock_guard lock(mutex_);
  if (scopes_.empty()) return;
  add(scopes_.back().bytes, bytes);
  add(scopes_.back().allocations, blocks);
}

std::size_t StatisticsAdaptor::push() {
  const std::lock_guard lock(mutex_);
  scopes_.emplace_back();
  counting_ = true;
  return scopes_.size();
}

MemoryCounters StatisticsAdaptor::pop() {
  const std::lock_guard lock(mutex_);
  if (scopes_.empty()) {
    throw Error("no-memory-scope", "there is no memory scope to end", "each push has one pop, and all are done",
                "end a scope once only");
  }
  const MemoryCounters inner = scopes_.back();
  scopes_.pop_back();
  counting_ = !scopes_.empty();
  if (!scopes_.empty()) {
    fold(scopes_.back().bytes, inner.bytes);
    fold(scopes_.back().allocations, inner.allocations);
  }
  return inner;
}

MemoryCounters StatisticsAdaptor::counters(std::size_t depth) const {
  const std::lock_guard lock(mutex_);
  return depth >= 1 && depth <= scopes_.size() ? scopes_[depth - 1] : MemoryCounters{};
}

// --- another try ---------------------------------------------------------------------------------------------------

Block* RetryAdaptor::allocate(std::size_t bytes, std::uint16_t stream) {
  while (true) {
    try {
      return AllocatorAdaptor::allocate(bytes, stream);
    } catch (const OutOfMemoryError&) {
      std::unique_lock lock(mutex_);
      const auto callback = callback_;
      lock.unlock();  // it may free memory, or allocate some
      if (!callback || !callback(bytes)) throw;
    }
  }
}

void RetryAdaptor::set_callback(std::function<bool(std::size_t)> callback) {
  const std::lock_guard lock(mutex_);
  callback_ = std::move(callback);
}

}  // namespace labrig
