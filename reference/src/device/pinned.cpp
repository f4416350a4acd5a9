// Pinned memory in the streams of several cards.
#include "device/pinned.hpp"

namespace labrig {

PinnedMemory::PinnedMemory(Backend& backend) : driver_(backend), allocator_(driver_, backend.device().str()) {}

bool PinnedMemory::record_use(const void* block, Backend& card, StreamId stream) {
  const int index = card.device().index();
  driver_.cards[static_cast<std::size_t>(index)].store(&card, std::memory_order_release);
  return allocator_.record_use(block, {index, stream});
}

std::uint32_t PinnedMemory::Driver::record_event(HostStream stream) {
  Backend& card = card_at(stream.card);
  const EventId event = card.create_event(false);
  card.record_event(event, stream.stream);
  return event;
}

}  // namespace labrig
