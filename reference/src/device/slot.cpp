// The memory of a device in use: the caching allocator on top of the backend's driver calls, with the announcements
// that a simulated card wants.
#include "device/slot.hpp"

#include <algorithm>
#include <map>
#include <vector>

#include "labrig/trace.hpp"

namespace labrig {
namespace {

void record_memory(trace::Kind kind, Device device, StreamId stream, std::size_t bytes, std::string_view name) {
  if (!trace::recording()) return;
  trace::record({kind, trace::Cause::asked, device, stream, bytes, 0, std::string(name)});
}

}  // namespace

// The backend as the allocators see it.
class DeviceSlot::Driver final : public DriverMemory {
 public:
  explicit Driver(Backend& backend) : backend_(backend) {}
  void* malloc(std::size_t bytes) override {
    void* memory = backend_.driver_malloc(bytes);
    if (memory) held_[memory] = bytes;
    return memory;
  }
  void free(void* memory) override {
    backend_.driver_free(memory);
    held_.erase(memory);
  }
  MemoryInfo memory_info() override { return backend_.memory_info(); }

  bool has_pages() const override { return backend_.has_pages(); }
  std::byte* reserve(std::size_t bytes) override { return static_cast<std::byte*>(backend_.reserve_range(bytes)); }
  void give_back(std::byte* address, std::size_t bytes) override { backend_.release_range(address, bytes); }
  bool map(std::byte* address, std::size_t bytes) override {
    if (!backend_.map_pages(address, bytes)) return false;
    mapped_bytes_ += bytes;
    return true;
  }
  void unmap(std::byte* address, std::size_t bytes, std::uint16_t stream) override {
    backend_.synchronize_stream(stream, trace::Cause::implicit);
    backend_.unmap_pages(address, bytes);
    mapped_bytes_ -= bytes;
  }

  // A simulated card has, besides this process, one that stands for all others. A real driver does not say.
  std::vector<ProcessMemory> processes() override {
    if (backend_.device().type() != DeviceType::sim) return {};
    std::size_t held = mapped_bytes_;
    for (const auto& [memory, bytes] : held_) held += bytes;
    const MemoryInfo card = backend_.memory_info();
    std::vector<ProcessMemory> result;
    const std::size_t others = card.total_bytes - std::min(card.total_bytes, card.free_bytes + held);
    if (others > 0) result.push_back({kOtherProcesses, others, false});
    result.push_back({0, held, true});
    return result;
  }

  // Events without time; used again, because a program may have many blocks that other streams use.
  Event record_event(StreamId stream) override {
    if (spare_events_.empty()) spare_events_.push_back(backend_.create_event(false));
    const Event event = spare_events_.back();
    backend_.record_event(event, stream);
    spare_events_.pop_back();
    return event;
  }
  bool event_is_done(Event event) override { return backend_.query_event(event); }
  void wait_for_event(Event event) override { backend_.synchronize_event(event); }
  void release_event(Event event) override { spare_events_.push_back(event); }

 private:
  static constexpr std::uint64_t kOtherProcesses = 1;

  Backend& backend_;
  std::map<void*, std::size_t> held_;
  std::size_t mapped_bytes_ = 0;
  std::vector<Event> spare_events_;
};

DeviceSlot::DeviceSlot(std::unique_ptr<Backend> backend) : device_(backend->device()), backend_(std::move(backend)) {
  if (device_.is_cpu()) return;
  driver_ = std::make_unique<Driver>(*backend_);
  allocators_ = std::make_unique<AllocatorStack>(*driver_, device_.str(), device_.index());
  pinned_ = std::make_unique<PinnedMemory>(*backend_);
  pinned_->allocator().set_settings(allocators_->settings().pinned);
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
  allocators_.reset();
  driver_.reset();
  backend_.reset();
}

Block* DeviceSlot::allocate(std::size_t bytes, StreamId stream, std::string_view name) {
  if (bytes == 0) return nullptr;
  Backend& card = backend();
  Block* block = nullptr;
  try {
    block = allocators_->top().allocate(bytes, stream);
  } catch (const OutOfMemoryError& error) {
    OutOfMemory facts = error.facts();
    facts.asked_by = name;
    throw OutOfMemoryError(std::move(facts));
  }
  try {
    card.note_alloc(block->address, bytes, block->bytes, name);
  } catch (...) {
    allocators_->top().free(block);
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
    allocators_->top().free(block);
  } catch (...) {
  }
}

void DeviceSlot::record_stream(Block* block, StreamId stream) {
  if (!block) return;
  backend();  // throws when it is gone
  allocators_->top().record_stream(block, stream);
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

void DeviceSlot::destroy_event(EventId event) noexcept {
  const std::lock_guard lock(closing_);
  if (!backend_) return;
  try {
    backend_->destroy_event(event);
  } catch (...) {
  }
}

}  // namespace labrig
