// The pinned memory of one type of card: the allocator of memory/host_allocator.hpp on top of the backend that pins.
// All cards of the type reach the memory, so it may be used by streams of each of them. The slot of the card that pins
// owns this; registry.hpp says which card that is.
#pragma once

#include <array>
#include <atomic>
#include <string_view>

#include "device/backend.hpp"
#include "memory/host_allocator.hpp"

namespace labrig {

class PinnedMemory {
 public:
  explicit PinnedMemory(Backend& backend);

  HostAllocator& allocator() { return allocator_; }
  // True when the memory is a block in use. `card` must live as long as this: cards of a type go away together.
  bool record_use(const void* block, Backend& card, StreamId stream);

 private:
  class Driver final : public HostDriver {
   public:
    explicit Driver(Backend& backend) : pinning(backend) {}
    void* malloc(std::size_t bytes) override { return pinning.pinned_malloc(bytes); }
    void free(void* memory) override { pinning.pinned_free(memory); }
    std::size_t limit_bytes() override { return pinning.pinned_limit_bytes(); }
    void note_alloc(void* block, std::size_t requested, std::size_t block_bytes, std::string_view name) override {
      pinning.note_pinned_alloc(block, requested, block_bytes, name);
    }
    void note_free(void* block) override { pinning.note_pinned_free(block); }
    std::uint32_t record_event(HostStream stream) override;
    bool query_event(int card, std::uint32_t event) override { return card_at(card).query_event(event); }
    void destroy_event(int card, std::uint32_t event) override { card_at(card).destroy_event(event); }
    std::int64_t clock_ns() override { return pinning.clock_ns(); }

    Backend& card_at(int card) { return *cards[static_cast<std::size_t>(card)].load(std::memory_order_acquire); }

    Backend& pinning;
    std::array<std::atomic<Backend*>, 128> cards{};  // those that have used the memory, by their number
  };

  Driver driver_;
  HostAllocator allocator_;
};

}  // namespace labrig
