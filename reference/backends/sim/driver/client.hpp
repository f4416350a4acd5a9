// The worker's end of the ring: one a machine, shared by the backends of its cards. Turns calls into records, waits for
// replies, moves pageable bytes through staging, and keeps the mode `late` honest on this side: what a copy will write
// to pinned memory shows poison until the host has waited for it. Safe to use from several threads; a two-way call
// keeps the lock until its reply. Read next: backend.hpp (who calls this), ../protocol/command.hpp (what is written).
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <unordered_map>
#include <vector>

#include "driver/crash.hpp"
#include "machine.hpp"
#include "ops/kernel.hpp"
#include "protocol/address_map.hpp"
#include "protocol/regions.hpp"

namespace labrig::sim {

// Where a command goes and what it is about.
struct Target {
  std::uint16_t device = 0, stream = 0;
  std::string_view name = {};
};

class Client {
 public:
  // Maps the regions, closes the descriptors, reserves the device range, installs the fault handler. `keep_alive` lives
  // as long as the client: the card, where it is a thread of this process.
  Client(const Handles& handles, std::shared_ptr<void> keep_alive);
  ~Client();
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  const Handles& handles() const { return handles_; }
  const AddressMap& map() const { return map_; }
  // Whether a thread other than the one that made this client has sent commands: then time is ordered by arrival.
  bool used_by_several_threads() {
    const std::lock_guard lock(mutex_);
    return several_threads_;
  }

  struct Values {
    std::uint64_t value[4];
  };
  using Args = std::uint64_t[4];

  void send(Opcode opcode, const Target& target, const Args& args);
  // Throws the card's refusal, and `card-stopped` when the card serves no more.
  Values call(Opcode opcode, const Target& target, const Args& args);
  void launch(const Target& target, const KernelCall& call);
  // A new stream, whose handle is in `target`.
  void create_stream(const Target& target, std::uint64_t flags);
  // Copies that use memory of the card, or of two.
  void copy_on_cards(Opcode opcode, const Target& target, const Args& args);
  // Copies between card and arena: `arena_start` is its offset there.
  void copy_pinned(const Target& target, bool up, std::uint64_t device_offset, std::uint64_t arena_start,
                   std::uint64_t bytes, std::uint64_t flags);

  // Pageable copies, in chunks; `flags` as in command.hpp.
  void upload(const Target& target, std::uint64_t destination, const void* source, std::size_t bytes,
              std::uint64_t flags);
  void download(const Target& target, void* destination, std::uint64_t source, std::size_t bytes, std::uint64_t flags);

  void note_alloc(const Target& target, std::uint64_t address, std::size_t requested, std::size_t block_bytes);
  void note_free(const Target& target, std::uint64_t address);
  void note_name(const Target& target, std::uint64_t address);

  // Between pointers of this process and what travels. A pointer outside gives an offset that no block has.
  std::uint64_t offset_of(const void* device_pointer) const;
  void* pointer_at(std::uint64_t offset) const { return range_.data() + offset; }
  bool in_arena(const void* pointer) const;
  std::uint64_t arena_offset_of(const void* pointer) const;
  void* arena_at(std::uint64_t offset) const { return regions_.arena() + offset; }

 private:
  // All of these with the lock held.
  std::uint32_t intern(std::string_view name);
  CommandHeader header(Opcode opcode, const Target& target, std::uint32_t name, std::size_t bytes,
                       std::uint32_t ticket);
  void write(const void* record, std::size_t bytes);
  void put(Opcode opcode, const Target& target, const Args& args, std::uint32_t ticket = 0);
  Values call_locked(Opcode opcode, const Target& target, const Args& args);
  void ring_bell();
  bool late() const { return handles_.mode == Mode::late && handles_.data; }
  // Counts an operation of the stream, as the card does; its number. Throttles before it when many wait.
  std::uint64_t next_operation(const Target& target);
  void throttle();
  void poison_destination(std::uint64_t start, std::uint64_t bytes);
  bool in_frontier(std::uint16_t stream, std::uint64_t number) const;
  template <class Condition>
  void wait_until(Condition condition);

  std::shared_ptr<void> keep_alive_;  // first: goes last
  Handles handles_;
  AddressMap map_;
  Regions regions_;
  Mapping range_;
  CrashTable crash_table_;

  std::mutex mutex_;
  const std::thread::id home_ = std::this_thread::get_id();
  bool several_threads_ = false;
  std::uint64_t tail_ = 0, head_seen_ = 0, sequence_ = 0, staging_position_ = 0, since_bell_ = 0;
  std::uint32_t last_ticket_ = 0;
  // What the card knows too: the streams of the machine by order of creation, and how many operations each has had.
  struct Stream {
    std::uint16_t device, id;
    std::uint64_t operations = 0;
  };
  std::vector<Stream> streams_;
  std::uint64_t since_throttle_ = 0, captured_since_throttle_ = 0;
  // Copies between card and arena that wait for their effect.
  struct ArenaCopy {
    std::uint16_t stream;  // index in streams_
    bool up;
    std::uint64_t number, start, bytes;
  };
  std::vector<ArenaCopy> arena_copies_;
  struct Hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const { return std::hash<std::string_view>{}(text); }
  };
  std::unordered_map<std::string, std::uint32_t, Hash, std::equal_to<>> names_;
};

}  // namespace labrig::sim
