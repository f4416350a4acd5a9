// Client: the producer of the ring and the chunks of pageable copies.
#include "driver/client.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>

#include "labrig/error.hpp"
#include "protocol/futex.hpp"

namespace labrig::sim {
namespace {

constexpr int kSleepMs = 200;

// The regions of `handles`, whose descriptors are closed whatever happens.
Regions map_and_close(const Handles& handles) {
  const FileDescriptor device_page(handles.device_page_fd), worker_page(handles.worker_page_fd),
      arena(handles.arena_fd);
  return Regions(device_page.get(), worker_page.get(), arena.get(), handles.arena_bytes, false);
}

Mapping reserve_range(std::uint64_t preferred, std::uint64_t bytes) {
  if (bytes == 0) return {};
  Mapping range = Mapping::reserve(bytes, false, preferred);
  for (const std::uint64_t base : kRangeBases) {
    if (range.data() == nullptr) range = Mapping::reserve(bytes, false, base);
  }
  if (range.data() == nullptr) range = Mapping::reserve(bytes, false);
  if (range.data() == nullptr) {
    throw Error("no-address-space", "cannot reserve addresses for the memory of the simulated card",
                "the system refuses " + std::to_string(bytes) + " bytes of address space",
                "lift the limit on address space (ulimit -v unlimited)");
  }
  return range;
}

Error refusal_of(const Reply& reply) {
  const std::string text(reply.text, strnlen(reply.text, sizeof reply.text));
  const std::size_t first = std::min(text.find('\n'), text.size());
  const std::size_t second = std::min(text.find('\n', std::min(first + 1, text.size())), text.size());
  const auto part = [&](std::size_t from, std::size_t to) {
    return from < to ? text.substr(from, to - from) : std::string();
  };
  return Error(std::string(reply.code, strnlen(reply.code, sizeof reply.code)), part(0, first), part(first + 1, second),
               part(second + 1, text.size()));
}

}  // namespace

Client::Client(const Handles& handles, std::shared_ptr<void> keep_alive)
    : keep_alive_(std::move(keep_alive)),
      handles_(handles),
      map_(handles.capacity_bytes),
      regions_(map_and_close(handles)),
      range_(reserve_range(handles.base, map_.total_bytes())),
      crash_table_(map_, range_.data(), regions_.worker_page()) {
  for (int card = 0; card < map_.cards(); ++card) streams_.push_back({static_cast<std::uint16_t>(card), 0, 0});
  handles_.device_page_fd = handles_.worker_page_fd = handles_.arena_fd = -1;
}

Client::~Client() = default;

// --- the ring ---------------------------------------------------------------------------------------------------

void Client::ring_bell() {
  since_bell_ = 0;
  std::atomic_thread_fence(std::memory_order_seq_cst);
  if (regions_.device_page().device_asleep.load(std::memory_order_relaxed) == 0) return;
  regions_.worker_page().bell.fetch_add(1, std::memory_order_release);
  futex_wake(regions_.worker_page().bell);
}

template <class Condition>
void Client::wait_until(Condition condition) {
  const DevicePage& page = regions_.device_page();
  const auto stopped = [&] { return page.stopped.load(std::memory_order_acquire) != 0; };
  for (int i = 0; i < spin_budget(); ++i) {
    if (condition()) return;
    cpu_pause();
  }
  std::atomic<std::uint32_t>& asleep = regions_.worker_page().worker_asleep;
  bool met = false, gone = false;
  while (!met && !gone) {
    const std::uint32_t seen = page.progress.load(std::memory_order_acquire);
    asleep.store(1, std::memory_order_seq_cst);
    std::atomic_thread_fence(std::memory_order_seq_cst);
    gone = stopped();  // before the condition: what the card did before it stopped counts
    met = condition();
    if (!met && !gone) futex_wait(page.progress, seen, kSleepMs);
  }
  asleep.store(0, std::memory_order_relaxed);
  if (!met) {
    throw Error("card-stopped", "the simulated card serves this program no more",
                "it got a damaged command, or more commands than a case may give it",
                "look for writes past the end of arrays and for loops that never end");
  }
}

void Client::write(const void* record, std::size_t bytes) {
  several_threads_ = several_threads_ || std::this_thread::get_id() != home_;
  const std::uint64_t granules = bytes / kGranuleBytes;
  const std::uint64_t to_end = kRingGranules - tail_ % kRingGranules;
  const std::uint64_t filler = granules > to_end ? to_end : 0;
  const auto room = [&] {
    head_seen_ = regions_.device_page().head.load(std::memory_order_acquire);
    return tail_ + filler + granules - head_seen_ <= kRingGranules;
  };
  // The card writes its head on another core: it is looked at only when the last look does not tell of room.
  if (tail_ + filler + granules - head_seen_ > kRingGranules && !room()) {
    ring_bell();
    wait_until(room);
  }
  for (std::uint64_t i = 0; i < filler; ++i) {
    SmallCommand nop{};
    nop.h.opcode = static_cast<std::uint16_t>(Opcode::nop);
    nop.h.granules = 1;
    nop.h.sequence = sequence_++;
    std::memcpy(regions_.ring() + tail_ % kRingGranules * kGranuleBytes, &nop, sizeof nop);
    ++tail_;
  }
  std::byte* place = regions_.ring() + tail_ % kRingGranules * kGranuleBytes;
  std::memcpy(place, record, bytes);
  const std::uint64_t sequence = sequence_++;
  std::memcpy(place + offsetof(CommandHeader, sequence), &sequence, sizeof sequence);
  tail_ += granules;
  regions_.worker_page().tail.store(tail_, std::memory_order_release);
  since_bell_ += filler + granules;
  if (since_bell_ >= kBellGranules) ring_bell();
}

CommandHeader Client::header(Opcode opcode, const Target& target, std::uint32_t name, std::size_t bytes,
                             std::uint32_t ticket) {
  CommandHeader header{};
  header.opcode = static_cast<std::uint16_t>(opcode);
  header.granules = static_cast<std::uint16_t>(bytes / kGranuleBytes);
  header.device = target.device;
  header.stream = target.stream;
  header.ticket = ticket;
  header.name = name;
  return header;
}

// Sends the text the first time. When the numbers are used up, the rest has no name.
std::uint32_t Client::intern(std::string_view name) {
  name = name.substr(0, kNameBytes - 1);
  if (name.empty()) return 0;
  if (const auto found = names_.find(name); found != names_.end()) return found->second;
  if (names_.size() + 1 >= kMaxNames) return 0;
  const auto number = static_cast<std::uint32_t>(names_.size() + 1);
  names_.emplace(name, number);
  NameCommand command{};
  command.h = header(Opcode::name, {}, number, sizeof command, 0);
  std::memcpy(command.text, name.data(), name.size());
  write(&command, sizeof command);
  return number;
}

void Client::put(Opcode opcode, const Target& target, const Args& args, std::uint32_t ticket) {
  SmallCommand command{};
  command.h = header(opcode, target, intern(target.name), sizeof command, ticket);
  std::copy(std::begin(args), std::end(args), command.arg);
  write(&command, sizeof command);
}

void Client::send(Opcode opcode, const Target& target, const Args& args) {
  const std::lock_guard lock(mutex_);
  put(opcode, target, args);
}

Client::Values Client::call(Opcode opcode, const Target& target, const Args& args) {
  const std::lock_guard lock(mutex_);
  return call_locked(opcode, target, args);
}

Client::Values Client::call_locked(Opcode opcode, const Target& target, const Args& args) {
  if (++last_ticket_ == 0) ++last_ticket_;
  const std::uint32_t ticket = last_ticket_;
  put(opcode, target, args, ticket);
  ring_bell();
  const Reply& reply = regions_.device_page().reply;
  wait_until([&] { return reply.ticket.load(std::memory_order_acquire) == ticket; });
  if (reply.status != static_cast<std::uint32_t>(ReplyStatus::ok)) throw refusal_of(reply);
  Values values{};
  std::copy(std::begin(reply.value), std::end(reply.value), values.value);
  return values;
}

// --- late effects ------------------------------------------------------------------------------------------------

void Client::throttle() {
  call_locked(Opcode::throttle, {}, {});
  since_throttle_ = captured_since_throttle_ = 0;
  arena_copies_.clear();
}

std::uint64_t Client::next_operation(const Target& target) {
  if (!late()) return 0;
  if (since_throttle_++ == kThrottleOperations) throttle();
  const auto stream = std::find_if(streams_.begin(), streams_.end(),
                                   [&](const Stream& s) { return s.device == target.device && s.id == target.stream; });
  return stream == streams_.end() ? 0 : ++stream->operations;
}

bool Client::in_frontier(std::uint16_t stream, std::uint64_t number) const {
  return stream < kPublishedStreams && number <= regions_.device_page().frontier[stream];
}

// All bytes of [start, start + bytes) that no waiting copy uses.
void Client::poison_destination(std::uint64_t start, std::uint64_t bytes) {
  if (start >= regions_.arena_bytes()) return;
  const std::uint64_t end = start + std::min(bytes, regions_.arena_bytes() - start);
  std::erase_if(arena_copies_, [&](const ArenaCopy& copy) { return in_frontier(copy.stream, copy.number); });
  std::vector<std::pair<std::uint64_t, std::uint64_t>> used;
  for (const ArenaCopy& copy : arena_copies_) {
    if (copy.start < end && start < copy.start + copy.bytes) used.emplace_back(copy.start, copy.start + copy.bytes);
  }
  std::sort(used.begin(), used.end());
  std::uint64_t at = start;
  for (const auto& [from, to] : used) {
    if (from > at) std::memset(arena_at(at), 0xFF, from - at);
    at = std::max(at, to);
  }
  if (at < end) std::memset(arena_at(at), 0xFF, end - at);
}

void Client::create_stream(const Target& target, std::uint64_t flags) {
  const std::lock_guard lock(mutex_);
  put(Opcode::stream_create, target, {flags});
  streams_.push_back({target.device, target.stream, 0});
}

// --- launches and copies ----------------------------------------------------------------------------------------

void Client::launch(const Target& target, const KernelCall& call) {
  alignas(8) std::byte record[sizeof(LaunchCommand) + kMaxWireOperands * sizeof(WireOperand)];
  const auto count = static_cast<std::size_t>(call.operand_count);
  const std::size_t bytes = sizeof(LaunchCommand) + count * sizeof(WireOperand);
  const std::lock_guard lock(mutex_);
  next_operation(target);
  LaunchCommand command{};
  command.h = header(Opcode::launch, target, 0, bytes, 0);
  command.kernel = static_cast<std::uint16_t>(call.kernel);
  command.operands = static_cast<std::uint8_t>(count);
  std::copy(call.scalars.begin(), call.scalars.end(), command.scalar);
  std::memcpy(record, &command, sizeof command);
  for (std::size_t i = 0; i < count; ++i) {
    const Operand& operand = call.operands[i];
    WireOperand wire{};
    const bool empty = std::find(operand.sizes.begin(), operand.sizes.end(), 0) != operand.sizes.end();
    wire.address = empty ? map_.part(target.device).start : offset_of(operand.data);
    wire.dtype = static_cast<std::uint8_t>(operand.dtype);
    wire.ndim = static_cast<std::uint8_t>(operand.sizes.count());
    wire.access = static_cast<std::uint8_t>(operand.access);
    wire.name = intern(operand.name);
    for (int d = 0; d < operand.sizes.count(); ++d) {
      wire.sizes[d] = operand.sizes[d];
      wire.strides_bytes[d] = operand.strides[d] * static_cast<std::int64_t>(element_bytes(operand.dtype));
    }
    std::memcpy(record + sizeof command + i * sizeof wire, &wire, sizeof wire);
  }
  write(record, bytes);
}

void Client::copy_on_cards(Opcode opcode, const Target& target, const Args& args) {
  const std::lock_guard lock(mutex_);
  next_operation(target);
  put(opcode, target, args);
}

void Client::copy_pinned(const Target& target, bool up, std::uint64_t device_offset, std::uint64_t arena_start,
                         std::uint64_t bytes, std::uint64_t flags) {
  const std::lock_guard lock(mutex_);
  const std::uint64_t number = next_operation(target);
  if (late()) {
    if (!up) poison_destination(arena_start, bytes);
    const auto stream = std::find_if(streams_.begin(), streams_.end(), [&](const Stream& s) {
      return s.device == target.device && s.id == target.stream;
    });
    arena_copies_.push_back({static_cast<std::uint16_t>(stream - streams_.begin()), up, number, arena_start, bytes});
  }
  if (up) {
    put(Opcode::copy_up, target, {device_offset, arena_start, bytes, flags});
  } else {
    put(Opcode::copy_down, target, {arena_start, device_offset, bytes, flags});
  }
}

void Client::upload(const Target& target, std::uint64_t destination, const void* source, std::size_t bytes,
                    std::uint64_t flags) {
  const std::lock_guard lock(mutex_);
  if (captured_since_throttle_ > 0 && captured_since_throttle_ + bytes > kThrottleCapturedBytes) throttle();
  next_operation(target);
  if (late()) captured_since_throttle_ += bytes;
  put(Opcode::pageable_begin, target, {destination, bytes, flags});
  for (std::size_t done = 0; done < bytes;) {
    const std::size_t piece = std::min(kChunkBytes, bytes - done);
    const std::uint64_t position = staging_start(staging_position_, piece);
    staging_position_ = staging_end(position, piece);
    const auto room = [&] {
      return staging_position_ - regions_.device_page().staged.load(std::memory_order_acquire) <= kStagingPieces;
    };
    if (!room()) {
      ring_bell();
      wait_until(room);
    }
    if (handles_.data) {
      std::memcpy(regions_.staging() + position % kStagingPieces * kStagingPieceBytes,
                  static_cast<const std::byte*>(source) + done, piece);
    }
    put(Opcode::pageable_chunk, {target.device, target.stream}, {position, done, piece});
    done += piece;
  }
  // The host is ordered after a copy that blocks. Where that lets the card read or write pinned memory, it is waited
  // for: the host may touch that memory next.
  const bool blocking = (flags & kCopyNonBlocking) == 0;
  const auto touches_arena = [&](const ArenaCopy& copy) { return !in_frontier(copy.stream, copy.number); };
  if (blocking && std::any_of(arena_copies_.begin(), arena_copies_.end(), touches_arena)) {
    call_locked(Opcode::clock, {}, {});
  }
}

void Client::download(const Target& target, void* destination, std::uint64_t source, std::size_t bytes,
                      std::uint64_t flags) {
  const std::lock_guard lock(mutex_);
  next_operation(target);
  for (std::size_t done = 0; done < bytes;) {
    call_locked(Opcode::copy_to_pageable, target, {source, bytes, done, flags});
    const std::size_t piece = std::min(kChunkBytes, bytes - done);
    std::byte* const to = static_cast<std::byte*>(destination) + done;
    if (handles_.data) {
      std::memcpy(to, regions_.staging(), piece);
    } else {
      std::memset(to, 0, piece);  // a cost-only run has no values, and every reader gets the same
    }
    done += piece;
  }
}

void Client::note_alloc(const Target& target, std::uint64_t address, std::size_t requested, std::size_t block_bytes) {
  const std::lock_guard lock(mutex_);
  put(Opcode::alloc_note, target, {address, requested, block_bytes});
  crash_table_.announce(address, requested, target.name);
}

void Client::note_free(const Target& target, std::uint64_t address) {
  const std::lock_guard lock(mutex_);
  put(Opcode::free_note, target, {address});
  crash_table_.free(address);
}

void Client::note_name(const Target& target, std::uint64_t address) {
  const std::lock_guard lock(mutex_);
  put(Opcode::name_note, target, {address});
  crash_table_.rename(address, target.name);
}

// --- addresses --------------------------------------------------------------------------------------------------

std::uint64_t Client::offset_of(const void* device_pointer) const {
  return reinterpret_cast<std::uint64_t>(device_pointer) - reinterpret_cast<std::uint64_t>(range_.data());
}

bool Client::in_arena(const void* pointer) const { return arena_offset_of(pointer) < regions_.arena_bytes(); }

std::uint64_t Client::arena_offset_of(const void* pointer) const {
  return reinterpret_cast<std::uint64_t>(pointer) - reinterpret_cast<std::uint64_t>(regions_.arena());
}

}  // namespace labrig::sim
