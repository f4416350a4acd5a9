// A card under test without a ring: records are built here and handed to the server one by one. Its profile has round
// numbers, so that times can be computed by hand.
#pragma once

#include <cstring>
#include <initializer_list>
#include <optional>
#include <string>

#include "card/server.hpp"
#include "labrig/error.hpp"
#include "protocol/pages.hpp"

namespace labrig::sim {

inline constexpr std::int64_t kUs = 1'000'000;  // picoseconds
inline constexpr std::uint64_t kMiB = std::uint64_t{1} << 20;

// 1 byte a nanosecond everywhere, 1 flop a nanosecond, and fixed costs of a few microseconds.
inline Profile round_profile() {
  Profile p;
  p.name = "round";
  p.compute_capability_major = 8;
  p.bf16 = true;
  p.capacity_bytes = 64 * kMiB;
  constexpr std::int64_t kPerNs = 1'000'000'000;
  p.flops_per_s.fill(kPerNs);
  p.matrix_flops_per_s.fill(kPerNs);
  p.memory_bytes_per_s = kPerNs;
  p.kernel_fixed_ps = 2 * kUs;
  p.kernel_gap_ps = 1 * kUs;
  p.launch_latency_ps = 3 * kUs;
  p.launch_host_ps = 2 * kUs;
  p.up = p.down = {1 * kUs, kPerNs, kPerNs, kPerNs, 0};
  p.copy_host_ps = 1 * kUs;
  p.both_ways_numerator = 1;
  p.both_ways_denominator = 2;
  p.within_bytes_per_s = kPerNs;
  p.sync_ps = 2 * kUs;
  p.event_ps = 0;
  p.query_ps = 1 * kUs;
  p.malloc_ps = 10 * kUs;
  p.free_ps = 10 * kUs;
  p.pin_ps = 10 * kUs;
  p.host_flops_per_s = p.host_bytes_per_s = kPerNs;
  p.host_call_ps = 1 * kUs;
  return p;
}

inline MachineOptions options_with(const Profile& profile, bool data = true) {
  MachineOptions options;
  options.cards = {profile};
  options.data = data;
  options.limits.pinned_bytes = 16 * kMiB;
  return options;
}

// Where a command goes, and the number of the name it carries.
struct About {
  std::uint16_t device = 0, stream = 0;
  std::uint32_t name = 0;
};

class TestCard {
 public:
  explicit TestCard(const MachineOptions& options)
      : files_(RegionFiles::create(options.limits.pinned_bytes)),
        regions_(files_.device_page.get(), files_.worker_page.get(), files_.arena.get(), options.limits.pinned_bytes,
                 true),
        server_(options, regions_) {}
  explicit TestCard(bool data = true) : TestCard(options_with(round_profile(), data)) {}

  Server& server() { return server_; }
  const Regions& regions() const { return regions_; }

  std::optional<Answer> send(Opcode opcode, std::initializer_list<std::uint64_t> args = {}, About about = {}) {
    SmallCommand command{};
    command.h = header(opcode, 1, about);
    std::copy(args.begin(), args.end(), command.arg);
    return process(command);
  }

  // Defines the next name; returns its number.
  std::uint32_t name(const std::string& text) {
    NameCommand command{};
    command.h = header(Opcode::name, 2, {});
    command.h.name = ++names_;
    std::strncpy(command.text, text.c_str(), sizeof command.text - 1);
    process(command);
    return names_;
  }

  struct Launch {
    LaunchCommand command;
    WireOperand operands[kMaxWireOperands];
  };
  // A launch over operands whose data are offsets.
  Launch make_launch(const KernelCall& call, About about = {}) {
    Launch launch{};
    launch.command.h = header(Opcode::launch, static_cast<std::uint16_t>(2 + 2 * call.operand_count), about);
    launch.command.kernel = static_cast<std::uint16_t>(call.kernel);
    launch.command.operands = static_cast<std::uint8_t>(call.operand_count);
    std::copy(call.scalars.begin(), call.scalars.end(), launch.command.scalar);
    for (std::size_t i = 0; i < static_cast<std::size_t>(call.operand_count); ++i) {
      const Operand& operand = call.operands[i];
      WireOperand& wire = launch.operands[i];
      wire.address = reinterpret_cast<std::uint64_t>(operand.data);
      wire.dtype = static_cast<std::uint8_t>(operand.dtype);
      wire.ndim = static_cast<std::uint8_t>(operand.sizes.count());
      wire.access = static_cast<std::uint8_t>(operand.access);
      for (int d = 0; d < operand.sizes.count(); ++d) {
        wire.sizes[d] = operand.sizes[d];
        wire.strides_bytes[d] = operand.strides[d] * static_cast<std::int64_t>(element_bytes(operand.dtype));
      }
    }
    return launch;
  }
  std::optional<Answer> launch(const KernelCall& call, About about = {}) { return process(make_launch(call, about)); }

  template <class Wire>
  std::optional<Answer> process(const Wire& wire) {
    static_assert(sizeof(Wire) <= sizeof(Record));
    Record record{};
    std::memcpy(record.bytes, &wire, sizeof wire);
    CommandHeader head;
    std::memcpy(&head, record.bytes, sizeof head);
    return server_.process(record, head.granules);
  }

  CommandHeader header(Opcode opcode, std::uint16_t granules, About about) {
    CommandHeader h{};
    h.opcode = static_cast<std::uint16_t>(opcode);
    h.granules = granules;
    h.device = about.device;
    h.stream = about.stream;
    h.name = about.name;
    h.ticket = is_two_way(opcode) ? ++tickets_ : 0;
    h.sequence = sequence_++;
    return h;
  }

  // A segment of the driver with one announced block in it.
  std::uint64_t block(std::uint64_t requested, std::uint32_t tensor = 0, std::uint16_t device = 0) {
    const std::uint64_t bytes = (requested + 511) / 512 * 512;
    const std::uint64_t address = send(Opcode::driver_malloc, {bytes}, {device})->value[1];
    send(Opcode::alloc_note, {address, requested, bytes}, {device, 0, tensor});
    return address;
  }

  // A piece of pinned memory that is one announced block.
  std::uint64_t pinned(std::uint64_t bytes, std::uint32_t tensor = 0) {
    const std::uint64_t address = send(Opcode::pinned_malloc, {bytes})->value[1];
    send(Opcode::pinned_note, {address, bytes, bytes}, {0, 0, tensor});
    return address;
  }
  float& host(std::uint64_t arena_address) { return *reinterpret_cast<float*>(regions_.arena() + arena_address); }

  // A pageable upload of bytes that stand in staging.
  void upload(std::uint64_t destination, const void* source, std::uint64_t bytes, std::uint64_t flags = 0,
              About about = {}) {
    send(Opcode::pageable_begin, {destination, bytes, flags}, about);
    for (std::uint64_t done = 0; done < bytes;) {
      const std::uint64_t piece = std::min<std::uint64_t>(kChunkBytes, bytes - done);
      const std::uint64_t position = staging_start(staged_, piece);
      if (source != nullptr) {
        std::memcpy(regions_.staging() + position % kStagingPieces * kStagingPieceBytes,
                    static_cast<const std::byte*>(source) + done, piece);
      }
      send(Opcode::pageable_chunk, {position, done, piece}, {about.device, about.stream});
      staged_ = staging_end(position, piece);
      done += piece;
    }
  }

  // A blocking download; `destination` may be null.
  std::optional<Answer> download(void* destination, std::uint64_t source, std::uint64_t bytes, std::uint64_t flags = 0,
                                 About about = {}) {
    std::optional<Answer> answer;
    for (std::uint64_t done = 0; done < bytes;) {
      answer = send(Opcode::copy_to_pageable, {source, bytes, done, flags}, about);
      const std::uint64_t piece = std::min<std::uint64_t>(kChunkBytes, bytes - done);
      if (destination != nullptr) std::memcpy(static_cast<std::byte*>(destination) + done, regions_.staging(), piece);
      done += piece;
    }
    return answer;
  }

  std::int64_t clock_ps() { return static_cast<std::int64_t>(send(Opcode::clock)->value[0]); }
  Metrics metrics() { return server_.report().metrics; }
  std::string violation() { return server_.report().violation_code; }

 private:
  RegionFiles files_;
  Regions regions_;
  Server server_;
  std::uint64_t sequence_ = 0, staged_ = 0;
  std::uint32_t tickets_ = 0, names_ = 0;
};

// A contiguous operand at a device offset.
inline Operand operand_at(std::uint64_t offset, Dtype dtype, const Dims& sizes, Access access) {
  Operand operand;
  operand.data = reinterpret_cast<void*>(offset);
  operand.dtype = dtype;
  operand.access = access;
  operand.sizes = sizes;
  operand.strides = Layout::contiguous(sizes).strides;
  return operand;
}

inline KernelCall call_of(Kernel kernel, std::initializer_list<Operand> operands, double scalar = 0) {
  KernelCall call;
  call.kernel = kernel;
  for (const Operand& operand : operands) call.push(operand);
  call.scalars[0] = scalar_bits(scalar);
  return call;
}

// out <- a + a over n floats in one block of 2 n floats: n flops, 3 n floats of memory traffic.
inline KernelCall add_call(std::uint64_t block, std::int64_t n) {
  const auto out = operand_at(block, kF32, {n}, Access::write);
  const auto in = operand_at(block + static_cast<std::uint64_t>(n) * 4, kF32, {n}, Access::read);
  return call_of(Kernel::add, {out, in, in});
}

}  // namespace labrig::sim
