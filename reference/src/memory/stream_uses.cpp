// Blocks that more than one stream uses. The allocator knows the stream of the allocation only; record_stream names the
// others. When such a block is freed, an event is recorded in each of them, and the block comes back once all are done:
//
//   stream 0   allocate x ... record_stream(x, 1), free x        x is active_awaiting_free
//   stream 1   ... kernel(x) ... | event |                       done: the next request finds x free
//
// Finished events are looked for at the beginning of every request, never at a free.
#include <algorithm>

#include "memory/caching_allocator.hpp"

namespace labrig {

void CachingAllocator::record_stream(Block* block, std::uint16_t stream) {
  if (stream == block->stream) return;  // its own order protects it
  const Lock lock(mutex_);
  auto& streams = stream_uses_[block];
  if (std::find(streams.begin(), streams.end(), stream) == streams.end()) streams.push_back(stream);
  block->used_elsewhere = true;
}

void CachingAllocator::record_events(Block* block) {
  const auto streams = std::move(stream_uses_.extract(block).mapped());
  block->used_elsewhere = false;
  for (const std::uint16_t stream : streams) {
    ++block->pending_events;
    pending_events_[stream].push_back({driver_.record_event(stream), block});
  }
}

void CachingAllocator::finish_event(const PendingEvent& pending) {
  driver_.release_event(pending.event);
  if (--pending.block->pending_events == 0) free_now(pending.block);
}

// Stream by stream, each up to its first event that is not done: a slow stream holds back no other.
void CachingAllocator::process_events() {
  for (auto it = pending_events_.begin(); it != pending_events_.end();) {
    auto& queue = it->second;
    while (!queue.empty() && driver_.event_is_done(queue.front().event)) {
      finish_event(queue.front());
      queue.pop_front();
    }
    it = queue.empty() ? pending_events_.erase(it) : std::next(it);
  }
}

void CachingAllocator::synchronize_events() {
  ++statistics_.num_sync_all_streams;
  for (auto& [stream, queue] : pending_events_) {
    for (const PendingEvent& pending : queue) {
      driver_.wait_for_event(pending.event);
      finish_event(pending);
    }
  }
  pending_events_.clear();
}

}  // namespace labrig
