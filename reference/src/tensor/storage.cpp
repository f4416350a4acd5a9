// Where bytes come from and where they go back to.
#include "tensor/storage.hpp"

#include <cstdlib>

#include "device/registry.hpp"
#include "device/thread_state.hpp"
#include "labrig/error.hpp"

namespace labrig {
namespace {

constexpr std::size_t kHostAlignment = 64;  // a cache line, and the widest vector register

}  // namespace

std::shared_ptr<Storage> Storage::on_host(std::size_t bytes) {
  std::shared_ptr<Storage> storage(new Storage(Home::host, bytes));
  if (bytes == 0) return storage;
  void* memory = nullptr;
  if (posix_memalign(&memory, kHostAlignment, bytes) != 0) {
    throw Error("out-of-host-memory",
                "DefaultCPUAllocator: can't allocate memory: you tried to allocate " + std::to_string(bytes) +
                    " bytes. Error code 12 (Cannot allocate memory)",
                "the host has no room for a tensor of that size",
                "look for a wrong shape, or process the data in parts");
  }
  storage->data_ = static_cast<std::byte*>(memory);
  return storage;
}

std::shared_ptr<Storage> Storage::pinned(std::shared_ptr<DeviceSlot> slot, std::size_t bytes, std::string_view name) {
  std::shared_ptr<Storage> storage(new Storage(Home::pinned, bytes));
  storage->slot_ = std::move(slot);
  storage->data_ = static_cast<std::byte*>(storage->slot_->allocate_pinned(bytes, name));
  return storage;
}

std::shared_ptr<Storage> Storage::on_card(std::shared_ptr<DeviceSlot> slot, std::size_t bytes, std::string_view name) {
  std::shared_ptr<Storage> storage(new Storage(Home::card, bytes));
  storage->slot_ = std::move(slot);
  storage->block_ = storage->slot_->allocate(bytes, current_stream_id(storage->slot_->device()), name);
  if (storage->block_) storage->data_ = storage->block_->address;
  return storage;
}

std::shared_ptr<Storage> Storage::borrowed(void* data, std::size_t bytes) {
  std::shared_ptr<Storage> storage(new Storage(Home::borrowed, bytes));
  storage->data_ = static_cast<std::byte*>(data);
  return storage;
}

Storage::~Storage() {
  if (home_ == Home::host) std::free(data_);
  if (home_ == Home::pinned) slot_->release_pinned(data_, bytes_);
  if (home_ == Home::card) slot_->release(block_);
}

std::byte* Storage::data() const {
  if (slot_) slot_->backend();  // throws when it is gone
  return data_;
}

void Storage::record_use(const DeviceSlot& card, StreamId stream) const {
  if (home_ == Home::card) slot_->record_stream(block_, stream);
  if (data_ && is_pinned_for(card.device().type())) slot_->record_pinned_use(data_, card.backend(), stream);
}

void Storage::note_name(std::string_view name) const {
  if (slot_) slot_->note_name(data_, name);
}

std::shared_ptr<DeviceSlot> Storage::slot() const { return home_ == Home::card ? slot_ : slot_of(Device{}); }

}  // namespace labrig
