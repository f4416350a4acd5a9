// One device in use: its backend, and for a card the caching allocator over it. Storages and events share it, so that
// they can outlive the backend: when a simulated machine goes away its slots are closed, and whatever still points to
// their memory is harmless from then on. Read next: registry.hpp (where slots come from).
#pragma once

#include <cstddef>
#include <memory>
#include <mutex>
#include <string_view>

#include "device/backend.hpp"
#include "device/live_list.hpp"
#include "device/pinned.hpp"
#include "labrig/export.hpp"
#include "memory/allocator_stack.hpp"

namespace labrig {

class LABRIG_API DeviceSlot {
 public:
  explicit DeviceSlot(std::unique_ptr<Backend> backend);
  ~DeviceSlot();
  DeviceSlot(const DeviceSlot&) = delete;
  DeviceSlot& operator=(const DeviceSlot&) = delete;

  Device device() const { return device_; }
  // Throws `device-gone` after close().
  Backend& backend() const;
  // Null for the host and after close().
  AllocatorStack* allocators() const { return allocators_.get(); }
  // Null also when caching is off.
  CachingAllocator* allocator() const { return allocators_ ? allocators_->caching() : nullptr; }
  void close() noexcept;

  // Memory of the card for work on `stream`; null for 0 bytes. Throws `out-of-memory`.
  Block* allocate(std::size_t bytes, StreamId stream, std::string_view name);
  void release(Block* block) noexcept;
  // `stream` uses the block too: after its release it waits for the work that is queued there then.
  void record_stream(Block* block, StreamId stream);
  // Host memory that this card reaches. Throws `out-of-pinned-memory`.
  void* allocate_pinned(std::size_t bytes, std::string_view name);
  void release_pinned(void* memory, std::size_t bytes) noexcept;
  // Work in a stream of `card` uses pinned memory of this slot, which must not be handed out again before it is done.
  void record_pinned_use(const void* memory, Backend& card, StreamId stream);
  // Null for the host and after close().
  HostAllocator* pinned_allocator() const { return pinned_ ? &pinned_->allocator() : nullptr; }
  // What the tensor in a block, of the card or of pinned memory, is called from now on.
  void note_name(void* block, std::string_view name) noexcept;
  void destroy_event(EventId event) noexcept;
  // The tensors that are here.
  LiveList& live() { return live_; }

 private:
  class Driver;

  const Device device_;
  mutable std::mutex closing_;  // a release and close() exclude each other
  std::unique_ptr<Backend> backend_;
  std::unique_ptr<Driver> driver_;
  std::unique_ptr<AllocatorStack> allocators_;
  std::unique_ptr<PinnedMemory> pinned_;
  LiveList live_;
};

}  // namespace labrig
