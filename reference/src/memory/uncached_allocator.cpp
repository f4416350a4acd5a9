#include "memory/uncached_allocator.hpp"

#include "memory/out_of_memory.hpp"
#include "memory/rounding.hpp"

namespace labrig {

Block* UncachedAllocator::allocate(std::size_t bytes, std::uint16_t stream) {
  const std::lock_guard lock(mutex_);
  auto block = std::make_unique<Block>();
  block->bytes = round_up_bytes(bytes, kMinBlockBytes);
  block->requested = bytes;
  block->stream = stream;
  block->allocated = true;
  block->address = static_cast<std::byte*>(driver_.malloc(block->bytes));
  if (!block->address) {
    OutOfMemory facts;
    facts.device_name = device_name_;
    facts.device_index = device_index_;
    facts.requested_bytes = bytes;
    facts.rounded_bytes = facts.segment_bytes = block->bytes;
    facts.card = driver_.memory_info();
    facts.allocated_bytes = facts.reserved_bytes = held_bytes_;
    facts.processes = driver_.processes();
    throw OutOfMemoryError(std::move(facts));
  }
  held_bytes_ += block->bytes;
  Block* const ticket = block.get();
  blocks_.emplace(ticket, std::move(block));
  return ticket;
}

void UncachedAllocator::free(Block* block) {
  const std::lock_guard lock(mutex_);
  driver_.free(block->address);
  held_bytes_ -= block->bytes;
  blocks_.erase(block);
}

}  // namespace labrig
