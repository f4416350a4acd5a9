// The memory of a device in use: the caching allocator on top of the backend's driver calls, with the announcements
// that a simulated card wants.
#include "device/slot.hpp"

#include "labrig/trace.hpp"

namespace labrig {
namespace {

void record_memory(trace::Kind kind, Device device, StreamId stream, std::size_t bytes, std::string_view name) {
  if (!trace::recording()) return;
  trace::record({kind, trace::Cause::asked, device, stream, bytes, 0, std::string(name)});
}

}  // namespace

// The backend as the caching allocator sees it.
class DeviceSlot::Driver final : public DriverMemory {
 public:
  explicit Driver(Backend& backend) : backend_(backend) {}
  void* malloc(std::size_t bytes) override { return backend_.driver_malloc(bytes); }
  void free(void* memory) override { backend_.driver_free(memory); }
  MemoryInfo memory_info() override { return backend_.memory_info(); }
  void synchronize() override { backend_.synchronize_device(trace::Cause::implicit); }

 private:
  Backend& backend_;
};

DeviceSlot::DeviceSlot(std::unique_ptr<Backend> backend) : device_(backend->device()), backend_(std::move(backend)) {
  if (device_.is_cpu()) return;
  driver_ = std::make_unique<Driver>(*backend_);
  allocator_ = std::make_unique<CachingAllocator>(*driver_, device_.str(), device_.index());
  pinned_ = std::make_unique<PinnedMemory>(*backend_);
}

DeviceSlot::~DeviceSlot() { close(); }

Backend& DeviceSlot::backend() const {
  if (backend_) return *backend_;
  throw Error("device-gone", device_.str() + " is gone, and with it the memory of this tensor",
              "the simulated machine that it belonged to has been taken away",
              "let go of tensors before the machine that they live on, or copy them to the CPU first");
}

void DeviceSlot::close() noexcept {
  const std::lock_guard lock(closing_);
  pinned_.reset();
  allocator_.reset();
  driver_.reset();
  backend_.reset();
}

Block* DeviceSlot::allocate(std::size_t bytes, StreamId stream, std::string_view name) {
  if (bytes == 0) return nullptr;
  Backend& card = backend();
  Block* block = allocator_->allocate(bytes, stream);
  try {
    card.note_alloc(block->address, bytes, block->bytes, name);
  } catch (...) {
    allocator_->free(block);
    throw;
  }
  record_memory(trace::Kind::allocate, device_, stream, block->bytes, name);
  return block;
}

// An error on the way down has nobody to go to: a card that has died answers the next call that can report it.
void DeviceSlot::release(Block* block) noexcept {
  if (!block) return;
  const std::lock_guard lock(closing_);
  if (!backend_) return;
  try {
    record_memory(trace::Kind::release, device_, block->stream, block->bytes, {});
    backend_->note_free(block->address);
    allocator_->free(block);
  } catch (...) {
  }
}

void* DeviceSlot::allocate_pinned(std::size_t bytes, std::string_view name) {
  if (bytes == 0) return nullptr;
  backend();
  void* memory = pinned_->allocator().allocate(bytes, name);
  record_memory(trace::Kind::allocate, Device{}, 0, bytes, name);
  return memory;
}

void DeviceSlot::release_pinned(void* memory, std::size_t bytes) noexcept {
  if (!memory) return;
  const std::lock_guard lock(closing_);
  if (!backend_) return;
  try {
    record_memory(trace::Kind::release, Device{}, 0, bytes, {});
    pinned_->allocator().free(memory);
  } catch (...) {
  }
}

void DeviceSlot::record_pinned_use(const void* memory, Backend& card, StreamId stream) {
  backend();
  pinned_->record_use(memory, card, stream);
}

void DeviceSlot::note_name(void* block, std::string_view name) noexcept {
  const std::lock_guard lock(closing_);
  if (!block || !backend_) return;
  try {
    backend_->note_name(block, name);
  } catch (...) {
  }
}

// MERGE: the caching allocator's own record_stream replaces this.
void DeviceSlot::record_stream(Block* /*block*/, StreamId /*stream*/) { backend(); }

void DeviceSlot::destroy_event(EventId event) noexcept {
  const std::lock_guard lock(closing_);
  if (!backend_) return;
  try {
    backend_->destroy_event(event);
  } catch (...) {
  }
}

}  // namespace labrig
