// The bytes under a tensor: on the host, in pinned host memory, on a card, or borrowed from a caller. Views share one
// storage through shared_ptr; the last one frees it, on whatever thread, without throwing, and without effect when its
// device has gone away before it.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>

#include "device/slot.hpp"

namespace labrig {

class Storage {
 public:
  static std::shared_ptr<Storage> on_host(std::size_t bytes);
  // Host memory that the card of `slot` reaches by itself.
  static std::shared_ptr<Storage> pinned(std::shared_ptr<DeviceSlot> slot, std::size_t bytes, std::string_view name);
  // From the caching allocator of the card, for work on the current stream.
  static std::shared_ptr<Storage> on_card(std::shared_ptr<DeviceSlot> slot, std::size_t bytes, std::string_view name);
  static std::shared_ptr<Storage> borrowed(void* data, std::size_t bytes);

  ~Storage();
  Storage(const Storage&) = delete;
  Storage& operator=(const Storage&) = delete;

  Device device() const { return home_ == Home::card ? slot_->device() : Device{}; }
  // Throws `device-gone` when the memory went away with its device.
  std::byte* data() const;
  std::size_t bytes() const { return bytes_; }
  // On a card: the list that its tensors are in, and the block of the allocator (null for 0 bytes); else null.
  LiveList* live() const { return home_ == Home::card ? &slot_->live() : nullptr; }
  const Block* block() const { return block_; }
  bool is_pinned() const { return home_ == Home::pinned; }
  // True when cards of this type reach the memory by themselves.
  bool is_pinned_for(DeviceType type) const { return is_pinned() && slot_->device().type() == type; }
  // That of the card; opens the host's for host memory.
  std::shared_ptr<DeviceSlot> slot() const;
  // Work in a stream of the card uses this memory; it is not handed out again before that is done. No effect for host
  // memory that the card does not reach.
  void record_use(const DeviceSlot& card, StreamId stream) const;
  // Counts changes in place: saved tensors look whether they are still what they were.
  std::uint32_t version() const { return version_.load(std::memory_order_relaxed); }
  void bump_version() { version_.fetch_add(1, std::memory_order_relaxed); }
  // What the card calls the memory from now on.
  void note_name(std::string_view name) const;

 private:
  enum class Home : std::uint8_t { host, pinned, card, borrowed };

  Storage(Home home, std::size_t bytes) : home_(home), bytes_(bytes) {}

  const Home home_;
  const std::size_t bytes_;
  std::atomic<std::uint32_t> version_{0};
  std::byte* data_ = nullptr;
  Block* block_ = nullptr;            // on a card
  std::shared_ptr<DeviceSlot> slot_;  // of the card, also of the one that pinned memory is for
};

}  // namespace labrig
