// The shared memory between worker and card: three memory files and what lies in them.
//
//   file          worker maps        card maps     contents
//   device page   read-only          read-write    head, sleep flag, reply, staged count, host frontier
//   worker page   read-write         read-write    tail, doorbell, sleep flag, crash record; the ring behind it
//   arena         read-write         read-write    staging, then the pinned arena
//
// The card never reads back what it wrote here: its own copies are the truth. All words that both sides use are
// lock-free atomics, so they work across processes. Read next: regions.hpp (how the files are made and mapped),
// futex.hpp.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "protocol/command.hpp"

namespace labrig::sim {

inline constexpr std::size_t kPageBytes = 4096;
inline constexpr std::size_t kRingBytes = kRingGranules * kGranuleBytes;

// Staging holds pageable bytes on their way up or down. It is a ring of 64 KiB pieces; a chunk takes consecutive pieces
// and never wraps.
inline constexpr std::size_t kStagingBytes = std::size_t{4} << 20;
inline constexpr std::size_t kStagingPieceBytes = std::size_t{64} << 10;
inline constexpr std::uint64_t kStagingPieces = kStagingBytes / kStagingPieceBytes;
inline constexpr std::size_t kChunkBytes = std::size_t{1} << 20;  // of a copy larger than kInlineBytes
inline constexpr std::size_t kInlineBytes = kStagingPieceBytes;   // the largest copy that does not wait
inline constexpr std::int64_t kChunksInFlight = 4;                // in virtual time

// Where a chunk of `bytes` starts when the pieces up to `position` are taken.
constexpr std::uint64_t staging_start(std::uint64_t position, std::size_t bytes) {
  const std::uint64_t pieces = (bytes + kStagingPieceBytes - 1) / kStagingPieceBytes;
  const std::uint64_t in_lap = position % kStagingPieces;
  return in_lap + pieces > kStagingPieces ? position + (kStagingPieces - in_lap) : position;
}
constexpr std::uint64_t staging_end(std::uint64_t start, std::size_t bytes) {
  return start + (bytes + kStagingPieceBytes - 1) / kStagingPieceBytes;
}

enum class ReplyStatus : std::uint32_t {
  ok,
  refused,  // an earlier or this command broke a rule: code and text say which
};

// Written by the card before it stores the ticket.
struct Reply {
  std::atomic<std::uint32_t> ticket;
  std::uint32_t status;
  std::uint64_t value[4];
  char code[32];
  char text[1224];  // "what\nwhy\nfix"
};

inline constexpr std::size_t kPublishedStreams = 256;

struct DevicePage {
  std::atomic<std::uint64_t> head;           // granules consumed
  std::atomic<std::uint64_t> staged;         // staging pieces consumed
  std::atomic<std::uint32_t> device_asleep;  // ring the bell
  std::atomic<std::uint32_t> stopped;        // the card serves no more
  std::atomic<std::uint32_t> progress;       // futex: counts up when a sleeping worker should look again
  std::byte gap0[36];
  Reply reply;
  std::uint64_t frontier[kPublishedStreams];  // of the host: a number of operations for each stream of the machine
  std::byte gap1[kPageBytes - 64 - sizeof(Reply) - kPublishedStreams * 8];
};
static_assert(sizeof(DevicePage) == kPageBytes);

// What the fault handler of the worker saw. A claim: the card words the report from its own tables.
struct CrashRecord {
  std::atomic<std::uint32_t> valid;
  std::uint32_t signal;
  std::uint64_t address;  // offset in the device range where in_device_range, else as it is
  std::uint32_t in_device_range;
  std::uint32_t access;  // CrashAccess
};
enum class CrashAccess : std::uint32_t { unknown, read, write };

struct WorkerPage {
  std::atomic<std::uint64_t> tail;           // granules written
  std::atomic<std::uint32_t> bell;           // futex: the card sleeps on it
  std::atomic<std::uint32_t> worker_asleep;  // count `progress` up and wake
  std::byte gap0[48];
  CrashRecord crash;
  std::byte gap1[kPageBytes - 64 - sizeof(CrashRecord)];
};
static_assert(sizeof(WorkerPage) == kPageBytes);
static_assert(std::atomic<std::uint64_t>::is_always_lock_free && std::atomic<std::uint32_t>::is_always_lock_free);

}  // namespace labrig::sim
