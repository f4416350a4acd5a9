// Commands become records; the test plays the worker's part of each (staging, the host's own reads and writes).
#include "card_run.hpp"

#include <cstring>
#include <limits>

#include "../test_card.hpp"
#include "judge.hpp"
#include "late.hpp"
#include "order.hpp"
#include "sequential.hpp"

namespace labrig::sim::programs {
namespace {

constexpr std::uint64_t kSegmentBytesAtLeast = 512;

class CardRun {
 public:
  CardRun(const Program& program, Mode mode, bool data)
      : program_(program), bytes_(static_cast<std::uint64_t>(unit_bytes(program))), card_(options(mode, data)) {
    for (std::uint16_t device = 0; device < kCards; ++device) {
      base_[device] = malloc_on(device, std::max(kUnits * bytes_, kSegmentBytesAtLeast));
    }
    for (int piece = 0; piece < kPieces; ++piece) take_piece(piece);
    for (int unit = 0; unit < kUnits; ++unit) put(arena(unit), arena_start(unit));
    for (const StreamSpec& stream : program.streams) {
      if (stream.id != 0) {
        card_.send(Opcode::stream_create, {stream.blocking ? 0 : kStreamNonBlocking},
                   {static_cast<std::uint16_t>(stream.card), static_cast<std::uint16_t>(stream.id)});
      }
    }
    for (int event = 0; event < program.events; ++event) {
      card_.send(Opcode::event_create, {static_cast<std::uint64_t>(event)},
                 {static_cast<std::uint16_t>(event_card(event))});
    }
  }

  Run run() {
    for (std::size_t i = 0; i < program_.commands.size(); ++i) {
      index_ = i;
      carry_out(program_.commands[i]);
      if (throttled_after(program_, i)) card_.send(Opcode::throttle);
    }
    for (std::uint16_t device = 0; device < kCards; ++device) card_.send(Opcode::sync_device, {0}, {device});
    host_read({kArena, 0, kUnits});
    for (const Range& block : live_at_the_end(program_)) download(block, {static_cast<std::uint16_t>(block.space)});
    run_.report = card_.server().report();
    return run_;
  }

 private:
  static MachineOptions options(Mode mode, bool data) {
    MachineOptions options = options_with(round_profile(), data);
    options.cards.push_back(options.cards[0]);
    options.mode = mode;
    return options;
  }

  std::uint64_t malloc_on(std::uint16_t device, std::uint64_t bytes) {
    return card_.send(Opcode::driver_malloc, {bytes}, {device})->value[1];
  }
  // Announced as a tensor's in every other program.
  void take_piece(int piece) {
    piece_[piece] = card_.send(Opcode::pinned_malloc, {kPieceUnits * bytes_})->value[1];
    if (program_.seed % 2 == 0) return;
    const std::uint64_t bytes = kPieceUnits * bytes_;
    card_.send(Opcode::pinned_note, {piece_[piece], bytes, bytes}, {0, 0, card_.name("piece" + tag_of(index_))});
  }

  // --- units and bytes
  std::uint64_t address(int space, int unit) const {
    if (space != kArena) return base_[space] + static_cast<std::uint64_t>(unit) * bytes_;
    return piece_[unit / kPieceUnits] + static_cast<std::uint64_t>(unit % kPieceUnits) * bytes_;
  }
  std::uint64_t address(const Range& range) const { return address(range.space, range.first); }
  std::uint64_t bytes(const Range& range) const { return static_cast<std::uint64_t>(range.count) * bytes_; }
  std::byte* arena(int unit) const { return card_.regions().arena() + address(kArena, unit); }

  void put(std::byte* place, float value) const {
    if (program_.element == Element::u8) {
      std::memset(place, static_cast<unsigned char>(value), bytes_);
    } else {
      for (std::uint64_t i = 0; i < bytes_; i += sizeof value) std::memcpy(place + i, &value, sizeof value);
    }
  }
  // The value of a unit: of its last element, and NaN if the first is another one.
  float get(const std::byte* place) const {
    constexpr float kUndefined = std::numeric_limits<float>::quiet_NaN();
    if (program_.element == Element::u8) {
      const auto value = std::to_integer<unsigned char>(*place);
      return value == 0xFF ? kUndefined : static_cast<float>(value);
    }
    float first, last;
    std::memcpy(&first, place, sizeof first);
    std::memcpy(&last, place + bytes_ - sizeof last, sizeof last);
    return first == last ? last : kUndefined;
  }
  std::vector<std::byte> filled(const Range& range, float value) const {
    std::vector<std::byte> made(bytes(range));
    for (int i = 0; i < range.count; ++i) {
      put(made.data() + static_cast<std::uint64_t>(i) * bytes_, value + static_cast<float>(i));
    }
    return made;
  }

  // --- commands
  About about(const Command& command, bool named = true) {
    const StreamSpec& stream = program_.streams[static_cast<std::size_t>(command.stream)];
    return {static_cast<std::uint16_t>(stream.card), static_cast<std::uint16_t>(stream.id),
            named ? card_.name(tag_of(index_)) : 0};
  }

  Operand operand(const Range& range, Access access) const {
    Operand made;
    made.data = reinterpret_cast<void*>(address(range));
    made.dtype = program_.element == Element::u8 ? kU8 : kF32;
    made.access = access;
    made.sizes = {static_cast<std::int64_t>(range.count) * program_.unit_elements};
    made.strides = {range.step};  // 1 where a unit has several elements
    return made;
  }

  void launch(const Command& command, Kernel kernel, float scalar = 0) {
    KernelCall call = call_of(kernel, {operand(command.out, Access::write)}, scalar);
    for (const Range& range : command.in) {
      if (range.count != 0) call.push(operand(range, Access::read));
    }
    const About where = about(command);
    auto record = card_.make_launch(call, {where.device, where.stream});
    for (int i = 0; i < call.operand_count; ++i) record.operands[i].name = where.name;
    card_.process(record);
  }

  void copy(Opcode opcode, const Command& command) {
    card_.send(opcode, {address(command.out), address(command.in[0]), bytes(command.out), kCopyNonBlocking},
               about(command));
  }

  void host_access(const Range& range, bool write) {
    for (int i = 0; i < range.count;) {  // one access a piece of the arena
      const int unit = range.unit(i);
      const int count = std::min(range.count - i, kPieceUnits - unit % kPieceUnits);
      card_.send(Opcode::host_access,
                 {address(kArena, unit), static_cast<std::uint64_t>(count) * bytes_, write ? std::uint64_t{1} : 0});
      i += count;
    }
  }
  void host_read(const Range& range) {
    host_access(range, false);
    for (int i = 0; i < range.count; ++i) run_.seen.push_back(get(arena(range.unit(i))));
  }
  void host_write(const Range& range, float value) {
    host_access(range, true);
    for (int i = 0; i < range.count; ++i) put(arena(range.unit(i)), value + static_cast<float>(i));
  }
  void download(const Range& range, About where) {
    std::vector<std::byte> got(bytes(range));
    card_.download(got.data(), address(range), got.size(), 0, where);
    for (int i = 0; i < range.count; ++i) run_.seen.push_back(get(got.data() + static_cast<std::uint64_t>(i) * bytes_));
  }

  void noise(const Command& command) {
    card_.send(Opcode::clock);
    card_.send(Opcode::statistics);
    card_.send(Opcode::marker);
    card_.send(Opcode::host_work, {1000, 1000});
    card_.send(Opcode::elapsed, {static_cast<std::uint64_t>(command.event), 0});
  }

  void carry_out(const Command& command) {
    const auto event = static_cast<std::uint64_t>(command.event);
    switch (command.kind) {
      case Kind::fill:
        return launch(command, Kernel::fill, command.value);
      case Kind::copy_kernel:
        return launch(command, Kernel::copy);
      case Kind::add_value:
        return launch(command, Kernel::add_scalar, command.value);
      case Kind::add:
        return launch(command, Kernel::add);
      case Kind::copy_within:
        return copy(Opcode::copy_within, command);
      case Kind::copy_up:
        return copy(Opcode::copy_up, command);
      case Kind::copy_down:
        return copy(Opcode::copy_down, command);
      case Kind::copy_peer:
        return copy(Opcode::copy_peer, command);
      case Kind::upload:
      case Kind::upload_blocking:
        card_.upload(address(command.out), filled(command.out, command.value).data(), bytes(command.out),
                     command.kind == Kind::upload ? kCopyNonBlocking : 0, about(command));
        return;
      case Kind::download:
        return download(command.in[0], about(command));
      case Kind::record:
        card_.send(Opcode::record, {event}, about(command, false));
        return;
      case Kind::wait:
        card_.send(Opcode::wait, {event}, about(command, false));
        return;
      case Kind::sync_stream:
        card_.send(Opcode::sync_stream, {0}, about(command, false));
        return;
      case Kind::sync_event:
        card_.send(Opcode::sync_event, {event, 0}, {static_cast<std::uint16_t>(event_card(command.event))});
        return;
      case Kind::sync_device:
        card_.send(Opcode::sync_device, {0}, {about(command, false).device});
        return;
      case Kind::query_stream:
        run_.answers.push_back(card_.send(Opcode::query_stream, {}, about(command, false))->value[0] != 0);
        return;
      case Kind::query_event:
        run_.answers.push_back(
            card_.send(Opcode::query_event, {event}, {static_cast<std::uint16_t>(event_card(command.event))})
                ->value[0] != 0);
        return;
      case Kind::host_read:
        return host_read(command.in[0]);
      case Kind::host_write:
        return host_write(command.out, command.value);
      case Kind::alloc: {
        const std::uint64_t slots = static_cast<std::uint64_t>((command.out.count + kSlotUnits - 1) / kSlotUnits);
        card_.send(Opcode::alloc_note, {address(command.out), bytes(command.out), slots * kSlotUnits * bytes_},
                   {static_cast<std::uint16_t>(command.out.space), 0, card_.name("block" + tag_of(index_))});
        return;
      }
      case Kind::free:
        card_.send(Opcode::free_note, {address(command.out)}, {static_cast<std::uint16_t>(command.out.space)});
        return;
      case Kind::unpin: {
        const int piece = command.out.first / kPieceUnits;
        card_.send(Opcode::pinned_free, {piece_[piece]});
        take_piece(piece);
        return host_write(command.out, command.value);
      }
      case Kind::driver_free: {
        const std::uint16_t device = about(command, false).device;
        card_.send(Opcode::driver_free, {malloc_on(device, 512)}, {device});
        return;
      }
      case Kind::throttle:
        card_.send(Opcode::throttle);
        return;
      case Kind::noise:
        return noise(command);
    }
  }

  const Program& program_;
  std::uint64_t bytes_;
  TestCard card_;
  std::uint64_t base_[kCards] = {}, piece_[kPieces] = {};
  std::size_t index_ = 0;
  Run run_;
};

}  // namespace

Run run_on_card(const Program& program, Mode mode, bool data) { return CardRun(program, mode, data).run(); }

std::string disagreement(const Program& program) {
  const Run eager = run_on_card(program, Mode::eager), late = run_on_card(program, Mode::late);
  const Run cost_only = run_on_card(program, Mode::late, false);
  std::string text;
  if (to_rows(cost_only.report.metrics) != to_rows(late.report.metrics)) text += "metrics differ without data\n";
  for (const Run* run : {&eager, &late}) {
    if (!run->report.violation_text.empty()) text += "refused: " + run->report.violation_text + "\n";
  }
  if (eager.answers != late.answers) text += "queries are answered differently in the two modes\n";
  if (to_rows(eager.report.metrics) != to_rows(late.report.metrics)) text += "metrics differ between the two modes\n";
  if (late.report.notes.empty() == reads_undefined_bytes(program)) text += "wrong about undefined bytes\n";
  const std::vector<Pair> unordered = unordered_pairs(program, eager.answers);
  text += wrong_values(eager.seen, sequential_values(program, {}), "eager");
  text += wrong_values(late.seen, sequential_values(program, unordered), "late");
  text += wrong_values(late.seen, late_values(program, unordered, late.answers), "late, races and all");
  text += wrong_hazards(program, eager.report, unordered, true);
  text += wrong_hazards(program, late.report, unordered, true);
  return text;
}

}  // namespace labrig::sim::programs
