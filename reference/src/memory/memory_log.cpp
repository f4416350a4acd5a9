#include "memory/memory_log.hpp"

#include <charconv>
#include <istream>
#include <optional>
#include <ostream>
#include <vector>

#include "labrig/memory.hpp"

namespace labrig {

Block* LogAdaptor::allocate(std::size_t bytes, std::uint16_t stream) {
  if (!logging_.load(std::memory_order_relaxed)) return AllocatorAdaptor::allocate(bytes, stream);
  try {
    Block* block = AllocatorAdaptor::allocate(bytes, stream);
    write("allocate", block->address, bytes, stream);
    return block;
  } catch (const OutOfMemoryError&) {
    write("allocate failure", nullptr, bytes, stream);
    throw;
  }
}

void LogAdaptor::free(Block* block) {
  if (logging_.load(std::memory_order_relaxed)) write("free", block->address, block->requested, block->stream);
  AllocatorAdaptor::free(block);
}

void LogAdaptor::start(std::shared_ptr<std::ostream> output) {
  const std::lock_guard lock(mutex_);
  output_ = std::move(output);
  threads_.clear();
  next_ = 0;
  logging_ = output_ != nullptr;
  if (output_) *output_ << "Thread,Time,Action,Pointer,Size,Stream\n";
}

void LogAdaptor::write(const char* action, const void* pointer, std::size_t bytes, std::uint16_t stream) {
  const std::lock_guard lock(mutex_);
  if (!output_) return;
  const std::size_t thread = threads_.try_emplace(std::this_thread::get_id(), threads_.size()).first->second;
  *output_ << thread << ',' << next_++ << ',' << action << ",0x" << std::hex
           << reinterpret_cast<std::uintptr_t>(pointer) << std::dec << ',' << bytes << ',' << stream << '\n';
}

// --- replay ----------------------------------------------------------------------------------------------------------

namespace {

std::vector<std::string> cells_of(const std::string& line) {
  std::vector<std::string> cells(1);
  for (const char c : line) {
    if (c == ',') {
      cells.emplace_back();
    } else if (c != '\r') {
      cells.back() += c;
    }
  }
  return cells;
}

// Decimal, or hexadecimal after 0x.
std::optional<std::uint64_t> number_of(std::string_view text) {
  const bool hex = text.starts_with("0x");
  if (hex) text.remove_prefix(2);
  std::uint64_t value = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value, hex ? 16 : 10);
  if (text.empty() || problem != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

class Replay {
 public:
  explicit Replay(DeviceAllocator& allocator) : allocator_(allocator) {}

  // Why the line cannot be carried out; empty when it was.
  std::string step(const std::vector<std::string>& cells) {
    if (cells.size() != 6) return "it has " + std::to_string(cells.size()) + " cells instead of 6";
    const std::string& action = cells[2];
    const auto pointer = number_of(cells[3]), bytes = number_of(cells[4]), stream = number_of(cells[5]);
    if (!bytes) return "'" + cells[4] + "' is not a size";
    if (!stream) return "'" + cells[5] + "' is not a stream";
    if (action == "allocate failure") return allocate({}, *bytes, *stream), std::string();
    if (!pointer) return "'" + cells[3] + "' is not a pointer";
    if (action == "allocate") return allocate(pointer, *bytes, *stream), std::string();
    if (action == "free") return free(*pointer), std::string();
    return "'" + action + "' is no action; there are allocate, allocate failure and free";
  }

  ReplayResult finish() {
    for (const auto& [pointer, block] : live_) allocator_.free(block);
    return result_;
  }

 private:
  void allocate(std::optional<std::uint64_t> pointer, std::size_t bytes, std::uint64_t stream) {
    if (bytes == 0) return;
    try {
      Block* block = allocator_.allocate(bytes, stream_number(stream));
      ++result_.allocations;
      if (!pointer) return allocator_.free(block);  // it failed when it was recorded, and nobody frees it in the log
      if (const auto found = live_.find(*pointer); found != live_.end()) allocator_.free(found->second);
      live_[*pointer] = block;
    } catch (const OutOfMemoryError&) {
      ++result_.failures;
    }
  }
  void free(std::uint64_t pointer) {
    const auto found = live_.find(pointer);
    if (found == live_.end()) {
      ++result_.unknown_frees;
      return;
    }
    allocator_.free(found->second);
    live_.erase(found);
    ++result_.frees;
  }
  // Handles of streams become numbers in the order of their first appearance; 0 is the default stream.
  std::uint16_t stream_number(std::uint64_t handle) {
    if (handle == 0) return 0;
    return static_cast<std::uint16_t>(streams_.try_emplace(handle, streams_.size() + 1).first->second);
  }

  DeviceAllocator& allocator_;
  std::map<std::uint64_t, Block*> live_;
  std::map<std::uint64_t, std::size_t> streams_;
  ReplayResult result_;
};

}  // namespace

Result<ReplayResult> replay_log(std::istream& log, std::string_view name, DeviceAllocator& allocator) {
  Replay replay(allocator);
  std::string line;
  for (std::size_t number = 1; std::getline(log, line); ++number) {
    if (line.empty() || line == "\r" || line.starts_with("Thread,")) continue;
    const std::string problem = replay.step(cells_of(line));
    if (problem.empty()) continue;
    replay.finish();
    return Error("bad-file", "cannot replay " + std::string(name), "line " + std::to_string(number) + ": " + problem,
                 "a log has lines Thread,Time,Action,Pointer,Size,Stream, as log_memory() and RMM write them");
  }
  return replay.finish();
}

}  // namespace labrig
