// Fuzzes the command ring: whatever a worker writes, the card neither crashes nor hangs, and when it refuses or stops
// it says why. The first byte chooses between a program of mostly right commands with wrong contents, of which some are
// damaged, and a ring full of arbitrary bytes with an arbitrary end.
#include <algorithm>
#include <array>
#include <cstring>
#include <string_view>
#include <vector>

#include "../unit/sim/test_card.hpp"
#include "card/consumer.hpp"
#include "choices.hpp"

namespace labrig::sim {
namespace {

using fuzz::Choices;
using fuzz::require;

MachineOptions small_machine(Mode mode) {
  MachineOptions options = options_with(round_profile());
  options.cards.push_back(round_profile());
  options.mode = mode;
  options.limits.real_bytes = 4 * kMiB;
  options.limits.pinned_bytes = 64 * kPageBytes;
  options.limits.kernel_steps = 1 << 14;
  options.limits.case_steps = 1 << 18;
  options.limits.trace_events = 64;
  return options;
}

void check(const Report& report, bool stopped) {
  constexpr std::array<std::string_view, 9> kCodes = {"protocol-error", "over-limit",    "bad-address",
                                                      "use-after-free", "out-of-bounds", "bad-handle",
                                                      "bad-shape",      "no-data",       "after-finish"};
  const bool known = std::find(kCodes.begin(), kCodes.end(), report.violation_code) != kCodes.end();
  require(report.violation_code.empty() || known, "the violation has a known code");
  require(report.violation_code.empty() == report.violation_text.empty(), "a violation has a text");
  require(!stopped || report.violation_code == "protocol-error" || report.violation_code == "over-limit",
          "a card that stops says why");
  const Metrics& m = report.metrics;
  require(m.time_ps >= 0 && m.busy_compute_ps >= 0 && m.busy_up_ps >= 0 && m.busy_down_ps >= 0 && m.overlap_ps >= 0,
          "no time is negative");
  require(m.peak_allocated_bytes <= m.peak_reserved_bytes, "tensors lie in memory of the driver");
  require(m.pinned_peak_bytes <= 64 * kPageBytes, "pinned memory lies in the arena");
  require(report.timeline.size() <= 64, "the timeline is bounded");
  for (const Span& span : report.timeline) require(span.start_ps <= span.end_ps, "a bar does not end before it starts");
}

// A program for one card or two, built from the bytes of the input.
class Program {
 public:
  Program(Choices& choices, Mode mode) : choices_(choices), card_(small_machine(mode)) {}

  Report run() {
    for (int i = 0; i < 400 && !choices_.done() && !card_.server().stopped(); ++i) step();
    const Report report = card_.server().report();
    check(report, card_.server().stopped());
    return report;
  }

 private:
  std::uint64_t address() {
    if (blocks_.empty() || choices_.one_in(8)) return choices_.number();
    return blocks_[choices_.below(blocks_.size())] + 4 * choices_.below(160);
  }
  std::uint64_t arena() { return choices_.one_in(16) ? choices_.number() : 64 * choices_.below(64); }
  About about() {
    if (choices_.one_in(32)) {
      return {static_cast<std::uint16_t>(choices_.number()), static_cast<std::uint16_t>(choices_.number()), 0};
    }
    return {static_cast<std::uint16_t>(choices_.below(2)), static_cast<std::uint16_t>(choices_.below(4)), 0};
  }
  std::uint64_t flags() { return choices_.below(5) | (choices_.one_in(2) ? kCopyNonBlocking : 0); }

  template <class Wire>
  std::optional<Answer> process(const Wire& wire) {
    Record record{};
    std::memcpy(record.bytes, &wire, sizeof wire);
    if (choices_.one_in(200)) record.bytes[choices_.below(sizeof wire)] = std::byte{choices_.byte()};
    CommandHeader head;
    std::memcpy(&head, record.bytes, sizeof head);
    return card_.server().process(record, std::min<std::uint64_t>(head.granules, kMaxRecordGranules));
  }
  std::optional<Answer> send(Opcode opcode, std::array<std::uint64_t, 4> args, About where) {
    SmallCommand command{};
    command.h = card_.header(opcode, 1, where);
    std::copy(args.begin(), args.end(), command.arg);
    return process(command);
  }

  void step() {
    const auto opcode = static_cast<Opcode>(choices_.below(kOpcodeCount));
    const About where = about();
    switch (opcode) {
      case Opcode::name:
        card_.name("n");
        return;
      case Opcode::launch:
        process(card_.make_launch(launch(), where));
        return;
      case Opcode::driver_malloc:
        return allocate(where);
      case Opcode::driver_reserve:
        return reserve(where);
      case Opcode::driver_map:
      case Opcode::driver_unmap:
        send(opcode, {address() / kDevicePageBytes * kDevicePageBytes, page_bytes(), 0, 0}, {where.device, 0, 0});
        return;
      case Opcode::pageable_begin:
        card_.upload(address(), nullptr, 1 + choices_.below(choices_.one_in(16) ? 65'536 : 300), flags(), where);
        return;
      case Opcode::copy_to_pageable:
        card_.download(nullptr, address(), 1 + choices_.below(choices_.one_in(16) ? 65'536 : 300), flags(), where);
        return;
      case Opcode::pinned_malloc:
        send(opcode, {kPageBytes * choices_.below(9), 0, 0, 0}, where);
        return;
      case Opcode::copy_up:
      case Opcode::copy_within:
        send(opcode, {address(), opcode == Opcode::copy_up ? arena() : address(), choices_.below(700), flags()}, where);
        return;
      case Opcode::copy_down:
        send(opcode, {arena(), address(), choices_.below(700), flags()}, where);
        return;
      case Opcode::host_access:
        send(opcode, {arena(), choices_.below(700), choices_.below(2), 0}, where);
        return;
      case Opcode::fetch_note:
        send(opcode, {address(), choices_.below(700), 0, 0}, where);
        return;
      case Opcode::copy_peer:
        send(opcode, {address(), address(), choices_.below(700), flags()}, where);
        return;
      case Opcode::name_note:
        send(opcode, {address() / 512 * 512, 0, 0, 0}, where);
        return;
      case Opcode::pinned_note:
        send(opcode, {arena(), 1 + choices_.below(700), 512 * (1 + choices_.below(2)), 0}, where);
        return;
      case Opcode::pinned_free_note:
      case Opcode::pinned_free:
        send(opcode, {arena(), 0, 0, 0}, where);
        return;
      case Opcode::alloc_note: {
        const std::uint64_t requested = 1 + choices_.below(512);
        send(opcode, {address() / 512 * 512, requested, 512, 0}, where);
        return;
      }
      case Opcode::free_note:
      case Opcode::driver_free:
      case Opcode::driver_release:
        send(opcode, {blocks_.empty() ? choices_.number() : blocks_[choices_.below(blocks_.size())], 0, 0, 0}, where);
        return;
      case Opcode::host_work:
        send(opcode, {choices_.number(), choices_.number(), 0, 0}, where);
        return;
      case Opcode::job:
        send(opcode, {choices_.below(66), choices_.number(), choices_.number(), choices_.number()}, where);
        return;
      case Opcode::begin:
      case Opcode::finish:
      case Opcode::pageable_chunk:
        if (choices_.one_in(64)) send(opcode, {choices_.number(), choices_.number(), choices_.number(), 0}, where);
        return;
      default:  // handles, causes, or nothing
        send(opcode, {choices_.below(6), arguments_of(opcode) > 1 ? choices_.below(6) : 0, 0, 0}, where);
    }
  }
  static int arguments_of(Opcode opcode) { return opcode == Opcode::sync_event || opcode == Opcode::elapsed ? 2 : 1; }

  void allocate(About where) {
    const std::uint64_t bytes = choices_.one_in(8) ? choices_.number() : 512 * (1 + choices_.below(8));
    const auto answer = send(Opcode::driver_malloc, {bytes, 0, 0, 0}, {where.device, 0, 0});
    if (!answer || answer->value[0] != 1) return;
    blocks_.push_back(answer->value[1]);
    if (!choices_.one_in(8)) send(Opcode::alloc_note, {blocks_.back(), 512, 512, 0}, {where.device, 0, 0});
  }

  std::uint64_t page_bytes() {
    return choices_.one_in(8) ? choices_.number() : kDevicePageBytes * (1 + choices_.below(2));
  }
  // A range with a first page, and mostly a tensor in it.
  void reserve(About where) {
    const About card{where.device, 0, 0};
    const auto range = send(Opcode::driver_reserve, {2 * page_bytes(), 0, 0, 0}, card);
    if (!range || range->value[0] != 1) return;
    const auto mapped = send(Opcode::driver_map, {range->value[1], page_bytes(), 0, 0}, card);
    if (!mapped || mapped->value[0] != 1) return;
    blocks_.push_back(range->value[1]);
    if (!choices_.one_in(8)) send(Opcode::alloc_note, {blocks_.back(), 512, 512, 0}, card);
  }

  KernelCall launch() {
    KernelCall call;
    call.kernel = static_cast<Kernel>(choices_.below(kKernelCount));
    const std::uint64_t operands = choices_.one_in(16) ? choices_.below(kMaxOperands + 1) : 1 + choices_.below(3);
    const std::uint64_t rank = choices_.one_in(8) ? choices_.below(7) : choices_.below(3);
    for (std::uint64_t i = 0; i < operands; ++i) {
      Operand operand;
      operand.data = reinterpret_cast<void*>(address());
      operand.dtype = choices_.one_in(4) ? static_cast<Dtype>(choices_.below(kDtypeCount)) : kF32;
      operand.access = i == 0 ? Access::write : Access::read;
      for (std::uint64_t d = 0; d < rank; ++d) {
        operand.sizes.push_back(static_cast<std::int64_t>(choices_.one_in(32) ? choices_.number() : choices_.below(6)));
        operand.strides.push_back(
            static_cast<std::int64_t>(choices_.one_in(32) ? choices_.number() >> 8 : choices_.below(8)));
      }
      call.push(operand);
    }
    for (auto& scalar : call.scalars) scalar = choices_.one_in(8) ? choices_.number() : choices_.below(2);
    return call;
  }

  Choices& choices_;
  TestCard card_;
  std::vector<std::uint64_t> blocks_;
};

// The ring, the end of the ring and the bell as the input has them, served until the client is gone.
void serve_arbitrary_bytes(Choices choices) {
  const MachineOptions options = small_machine(choices.one_in(2) ? Mode::late : Mode::eager);
  const std::uint64_t arena_bytes = options.limits.pinned_bytes;
  const RegionFiles files = RegionFiles::create(arena_bytes);
  const Regions regions(files.device_page.get(), files.worker_page.get(), files.arena.get(), arena_bytes, true);
  Server server(options, regions);
  Consumer consumer(server, regions);
  const std::uint64_t tail = choices.one_in(4) ? choices.number() : choices.below(64);
  regions.worker_page().tail.store(tail);
  regions.worker_page().worker_asleep.store(choices.byte());
  const auto bytes = choices.rest();
  std::memcpy(regions.ring(), bytes.data(), std::min<std::size_t>(bytes.size(), kRingBytes));
  consumer.client_is_gone();
  consumer.run([] {});
  require(regions.device_page().stopped.load() == 1, "a service that ends says so");
  check(server.report(), server.stopped());
}

}  // namespace
}  // namespace labrig::sim

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t bytes) {
  using namespace labrig;
  fuzz::Choices choices({data, bytes});
  if (choices.one_in(4)) {
    sim::serve_arbitrary_bytes(choices);
    return 0;
  }
  fuzz::Choices again = choices;
  const sim::Report eager = sim::Program(choices, sim::Mode::eager).run();
  const sim::Report late = sim::Program(again, sim::Mode::late).run();
  fuzz::require(eager.violation_code == late.violation_code, "both modes refuse the same");
  fuzz::require(eager.metrics == late.metrics, "both modes have the same metrics");
  return 0;
}
