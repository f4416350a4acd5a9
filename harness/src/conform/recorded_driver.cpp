#include "conform/recorded_driver.hpp"

#include <set>

namespace labrig::conform {
namespace {

void* pointer(std::uint64_t address) { return reinterpret_cast<void*>(static_cast<std::uintptr_t>(address)); }
std::uint64_t address_of(const void* memory) { return reinterpret_cast<std::uintptr_t>(memory); }

}  // namespace

// When a block comes free is the allocator's own affair, at no fixed place among the driver's events, and a snapshot
// changes nothing: only events with an effect outside the allocator are kept.
RecordedDriver::RecordedDriver(std::vector<LogEvent> log) : log_(std::move(log)) {
  static const std::set<std::string> kKept = {"alloc",        "free_requested", "oom",          "segment_alloc",
                                              "segment_free", "segment_map",    "segment_unmap"};
  std::erase_if(log_, [](const LogEvent& event) { return !kKept.contains(event.action); });
  used_.assign(log_.size(), false);
}

const LogEvent* RecordedDriver::due() {
  while (next_ < log_.size() && used_[next_]) ++next_;
  return next_ < log_.size() ? &log_[next_] : nullptr;
}

const LogEvent* RecordedDriver::take(const std::string& action) {
  const LogEvent* event = due();
  if (!event || event->action != action) return nullptr;
  ++next_;
  return event;
}

void* RecordedDriver::malloc(std::size_t bytes) {
  const LogEvent* event = take("segment_alloc");
  if (!event) return nullptr;
  if (event->bytes != bytes && problem_.empty()) {
    problem_ = "a segment of " + std::to_string(bytes) + " bytes instead of " + std::to_string(event->bytes);
  }
  return pointer(event->address);
}

void RecordedDriver::free(void* memory) { take_from_run("segment_free", address_of(memory), 0); }

std::byte* RecordedDriver::reserve(std::size_t) {
  const LogEvent* event = due();  // a range begins with its first page
  return event && event->action == "segment_map" ? static_cast<std::byte*>(pointer(event->address)) : nullptr;
}

bool RecordedDriver::map(std::byte* address, std::size_t bytes) {
  const LogEvent* event = take("segment_map");
  if (!event) return false;
  if ((event->address != address_of(address) || event->bytes != bytes) && problem_.empty()) {
    problem_ = "pages of " + std::to_string(bytes) + " bytes at " + std::to_string(address_of(address)) +
               " instead of " + std::to_string(event->bytes) + " bytes at " + std::to_string(event->address);
  }
  return true;
}

void RecordedDriver::unmap(std::byte* address, std::size_t bytes, std::uint16_t) {
  take_from_run("segment_unmap", address_of(address), bytes);
}

// In whatever order within a run: PyTorch goes through streams by the addresses of their handles.
void RecordedDriver::take_from_run(const std::string& action, std::uint64_t address, std::uint64_t bytes) {
  due();
  for (std::size_t i = next_; i < log_.size(); ++i) {
    if (used_[i]) continue;
    if (log_[i].action != action) break;
    if (log_[i].address != address || (bytes != 0 && log_[i].bytes != bytes)) continue;
    used_[i] = true;
    return;
  }
  if (problem_.empty()) problem_ = "memory at " + std::to_string(address) + " to be taken back, which was kept";
}

void* UnrecordedDriver::malloc(std::size_t bytes) {
  if (full) return nullptr;
  void* memory = pointer(next_);
  next_ += (bytes + (std::size_t{1} << 21)) & ~((std::size_t{1} << 21) - 1);
  return memory;
}

}  // namespace labrig::conform
