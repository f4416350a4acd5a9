// What the worker writes into the ring: fixed records of 64-byte granules, a header and its arguments. The card copies
// a record into private memory before it looks at it, and believes none of it. Read next: pages.hpp (where the ring
// lies and how both sides wake each other), ../card/decode.hpp (what the card checks first).
//
// Device addresses in records are offsets from the start of the device range (address_map.hpp), so the two sides need
// not agree where the range lies in the worker; arena addresses are offsets into the arena.
#pragma once

#include <cstddef>
#include <cstdint>

namespace labrig::sim {

enum class Opcode : std::uint16_t {
  // --- one-way: ticket 0, no reply -----------------------------------------------------------------------------
  nop,               // fills the end of the ring; not counted
  name,              // NameCommand: header.name <- text
  stream_create,     // header.stream is the new handle; args: flags (kStreamNonBlocking)
  stream_destroy,    //
  event_create,      // args: event, flags (kEventWithoutTiming)
  event_destroy,     // args: event
  record,            // args: event
  wait,              // args: event
  launch,            // LaunchCommand
  copy_up,           // args: device destination, arena source, bytes, copy flags
  copy_down,         // args: arena destination, device source, bytes, copy flags
  pageable_begin,    // args: device destination, bytes, copy flags; its chunks must follow at once
  pageable_chunk,    // args: staging position, offset in the copy, bytes
  copy_within,       // args: device destination, device source, bytes, copy flags
  copy_peer,         // args: destination on another card, device source, bytes, copy flags; the stream is the source's
  alloc_note,        // args: address, requested bytes, block bytes
  free_note,         // args: address
  name_note,         // args: address, 1 when it is one of the arena; header.name is the block's name from now on
  pinned_note,       // args: arena address, requested bytes, block bytes
  pinned_free_note,  // args: arena address
  host_work,         // args: flops, bytes
  job,               // args: worker, flops, bytes, operators: work of a loader's worker, on the worker's own clock
  take_job,          // args: worker: the host waits for its oldest job that was not taken
  close_worker,      // args: worker: its jobs are forgotten, its clock starts anew
  host_access,       // args: arena address, bytes, 1 for a write
  fetch_note,        // args: device address, bytes: what the harness reads next in this stream; order alone, no time
  marker,            // header.name is the mark; args: kMarkLoop for a mark of the lab's loop, which has no name

  // --- two-way: ticket not 0, the reply carries it back ----------------------------------------------------------
  sync_stream,       // args: cause
  sync_event,        // args: event, cause
  sync_device,       // args: cause
  query_event,       // args: event                     -> done
  query_stream,      //                                 -> done
  elapsed,           // args: event, later event        -> state (ElapsedState), picoseconds
  driver_malloc,     // args: bytes                     -> found, address
  driver_free,       // args: address
  driver_reserve,    // args: bytes                     -> found, address: a range without memory
  driver_release,    // args: address of a range that has no pages
  driver_map,        // args: address, bytes: pages     -> done
  driver_unmap,      // args: address, bytes
  pinned_malloc,     // args: bytes                     -> found, arena address
  pinned_free,       // args: arena address
  copy_to_pageable,  // args: device source, bytes of the whole copy, offset of this chunk, copy flags; the data lie
                     // at the start of staging
  throttle,          // carry out all pending effects; no virtual time, no order
  statistics,        //                                 -> free bytes, total bytes
  clock,             //                                 -> host clock in picoseconds
  begin,             // metrics start here
  finish,            // metrics end here
};
inline constexpr int kOpcodeCount = static_cast<int>(Opcode::finish) + 1;
constexpr bool is_two_way(Opcode opcode) { return opcode >= Opcode::sync_stream; }

inline constexpr std::uint64_t kDevicePageBytes = std::uint64_t{2} << 20;  // of the commands that map memory

inline constexpr std::size_t kGranuleBytes = 64;
inline constexpr std::uint64_t kRingGranules = 16'384;
inline constexpr std::uint64_t kMaxRecordGranules = 18;
inline constexpr std::uint64_t kBellGranules = 256;  // the doorbell rings at least this often

inline constexpr std::uint16_t kMaxStreams = 64;  // a device, the default stream included
inline constexpr std::uint32_t kMaxEvents = 65'536;
inline constexpr std::uint32_t kMaxNames = 65'536;  // name 0 is "no name"
inline constexpr std::size_t kNameBytes = 96;       // with the terminating zero
inline constexpr std::uint64_t kMaxWorkers = 64;    // of loaders, on one machine
inline constexpr std::size_t kMaxJobs = 4'096;      // of a worker, not taken yet

inline constexpr std::uint64_t kStreamNonBlocking = 1;
inline constexpr std::uint64_t kEventWithoutTiming = 1;
inline constexpr std::uint64_t kMarkLoop = 1;

// In the mode `late` effects wait on the card until the host is ordered after them. Before they are more than this, or
// more bytes of pageable copies than that, the worker's half sends a `throttle`; a card that holds more of them than
// Limits::pending_operations serves no more.
inline constexpr std::uint64_t kThrottleOperations = 16'384;
inline constexpr std::uint64_t kThrottleCapturedBytes = std::uint64_t{256} << 20;

// Copy flags: the cause in the low byte (CommandCause), then bits.
inline constexpr std::uint64_t kCopyCauseMask = 0xFF;
inline constexpr std::uint64_t kCopyNonBlocking = 0x100;

// Why a synchronisation or copy happens; the values of trace::Cause.
enum class CommandCause : std::uint8_t { asked, value, copy, hidden, implicit };
inline constexpr int kCommandCauseCount = 5;

enum class ElapsedState : std::uint64_t { ok, not_recorded, not_ready, no_timing };

struct CommandHeader {
  std::uint16_t opcode, granules;
  std::uint16_t device, stream;  // stream 0: the default stream of that device
  std::uint32_t ticket;          // 0: one-way; otherwise the reply carries it back
  std::uint32_t name;            // interned text: what the user would call this
  std::uint64_t sequence;        // 0, 1, 2, … of this worker; anything else is a protocol error
  std::uint64_t reserved;        // 0
};
static_assert(sizeof(CommandHeader) == 32);

// All but names and launches. Arguments that a command does not use are 0.
struct SmallCommand {
  CommandHeader h;
  std::uint64_t arg[4];
};
static_assert(sizeof(SmallCommand) == 64);

struct NameCommand {
  CommandHeader h;
  char text[kNameBytes];
};
static_assert(sizeof(NameCommand) == 128);

struct WireOperand {
  std::uint64_t address;
  std::uint8_t dtype, ndim, access, reserved;
  std::uint32_t name;
  std::int64_t sizes[6], strides_bytes[6];
  std::uint64_t pad[2];
};
static_assert(sizeof(WireOperand) == 128);

struct LaunchCommand {
  CommandHeader h;
  std::uint16_t kernel;
  std::uint8_t operands, reserved;
  std::uint32_t reserved2;
  std::uint64_t scalar[8];
  std::uint64_t pad[3];  // 0
};
static_assert(sizeof(LaunchCommand) == 2 * kGranuleBytes);

inline constexpr int kMaxWireOperands = 8;
// The largest record: a launch with eight operands.
struct Record {
  alignas(8) std::byte bytes[kMaxRecordGranules * kGranuleBytes];
};
static_assert(sizeof(LaunchCommand) + kMaxWireOperands * sizeof(WireOperand) <= sizeof(Record));

}  // namespace labrig::sim
