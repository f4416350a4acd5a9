// The generator draws commands without caring whether they are legal, and keeps those that are.
#include "generate.hpp"

#include <algorithm>
#include <random>

namespace labrig::sim::programs {
namespace {

constexpr int kMaxCommands = 40;

class Generator {
 public:
  explicit Generator(std::uint64_t seed) : random_(seed) { program_.seed = seed; }

  Program program() {
    choose_shape();
    for (int card = 0; card < kCards; ++card) {
      for (int slot = 0; slot < 3; ++slot) program_.commands.push_back(new_block(card, 2 * slot));
    }
    const auto fixed = program_.commands.size();
    const auto wanted = fixed + 8 + below(kMaxCommands - 7);
    for (int tries = 0; program_.commands.size() < wanted && tries < 400; ++tries) {
      program_.commands.push_back(any_command());
      program_ = legal(program_);
    }
    return program_;
  }

 private:
  std::uint32_t below(std::uint32_t bound) { return static_cast<std::uint32_t>(random_() % bound); }
  bool one_in(std::uint32_t n) { return below(n) == 0; }
  int draw(int bound) { return static_cast<int>(below(static_cast<std::uint32_t>(bound))); }

  void choose_shape() {
    if (one_in(100)) {
      program_.unit_elements = 2048;  // units of 8 KiB: pageable copies of more than 64 KiB
    } else if (one_in(5)) {
      program_.element = Element::u8;
    }
    const bool blocking = one_in(3);
    int next_id[kCards] = {0, 0};
    for (int i = 0; i < 4; ++i) {
      const int card = one_in(3) ? 1 : 0;
      int& id = next_id[card];
      if (id == 0 && one_in(2)) id = 1;  // not every program uses the default stream
      program_.streams.push_back({card, id, id == 0 || (blocking && !one_in(3))});
      ++id;
    }
    program_.events = 4;
    if (one_in(4)) program_.throttle_every = one_in(2) ? 5 : 1 + draw(9);
  }

  Command new_block(int card, int slot) {
    Command command;
    command.kind = Kind::alloc;
    const int slots = 1 + draw(2);
    command.out = {card, slot * kSlotUnits, slots * kSlotUnits - draw(kSlotUnits - 2)};
    return command;
  }

  // A part of a live block of the space; often of one that was used lately, so that accesses meet.
  Range part_of(int space, int count = 0) {
    Range block{kArena, draw(kPieces) * kPieceUnits, kPieceUnits};
    if (space != kArena) {
      std::vector<Range> live;
      for (const Command& command : program_.commands) {
        if (command.kind == Kind::alloc && command.out.space == space) live.push_back(command.out);
        if (command.kind == Kind::free) {
          std::erase_if(live,
                        [&](const Range& x) { return x.space == command.out.space && x.first == command.out.first; });
        }
      }
      if (live.empty()) return {space, 0, 1};
      block = live[below(static_cast<std::uint32_t>(live.size()))];
    }
    Range part{space, 0, count > 0 ? count : 1 + draw(std::min(block.count, 10)), 1};
    if (part.count > 1 && 2 * part.count <= block.count && program_.unit_elements == 1 && one_in(4)) part.step = 2;
    const int room = block.count - ((part.count - 1) * part.step + 1);
    part.first = block.first + (room > 0 ? draw(room + 1) : 0);
    return part;
  }
  Range plain(Range range) {
    range.step = 1;
    return range;
  }

  int any_stream() { return draw(static_cast<int>(program_.streams.size())); }
  int card_of(int stream) { return program_.streams[static_cast<std::size_t>(stream)].card; }
  // The event belongs to the card of the stream.
  int event_of(int card) { return card + kCards * draw(2); }
  float any_value() { return static_cast<float>(1 + draw(150)); }

  Command any_command() {
    const std::uint32_t dice = below(100);
    if (dice < 60) return operation(dice);
    if (dice < 78) return order(dice);
    return host(dice);
  }

  Command operation(std::uint32_t dice) {
    Command c;
    c.stream = any_stream();
    const int card = card_of(c.stream);
    c.value = any_value();
    c.out = part_of(card);
    const bool arithmetic = program_.element == Element::f32;
    if (dice < 6) {
      c.kind = Kind::fill;
    } else if (dice < 12 || (dice < 28 && !arithmetic)) {
      c.kind = Kind::copy_kernel;
      c.in[0] = part_of(card, c.out.count);
    } else if (dice < 20) {
      c.kind = Kind::add_value;
      c.in[0] = one_in(2) ? c.out : part_of(card, c.out.count);
    } else if (dice < 28) {
      c.kind = Kind::add;
      c.in[0] = one_in(3) ? c.out : part_of(card, c.out.count);
      c.in[1] = part_of(card, c.out.count);
    } else if (dice < 32) {
      c.kind = Kind::copy_within;
      c.out = plain(c.out);
      c.in[0] = plain(part_of(card, c.out.count));
      if ((c.in[0].mask() & c.out.mask()) != 0) c.out.count = c.in[0].count = 0;
    } else if (dice < 40) {
      c.kind = Kind::copy_up;
      c.out = plain(c.out);
      c.in[0] = plain(part_of(kArena, c.out.count));
    } else if (dice < 48) {
      c.kind = Kind::copy_down;
      c.in[0] = plain(c.out);
      c.out = plain(part_of(kArena, c.in[0].count));
    } else if (dice < 52) {
      c.kind = Kind::copy_peer;
      c.in[0] = plain(c.out);
      c.out = plain(part_of(1 - card, c.in[0].count));
    } else if (dice < 58) {
      c.kind = dice < 56 ? Kind::upload : Kind::upload_blocking;
      c.out = plain(program_.unit_elements > 1 ? part_of(card, 10) : c.out);
    } else {
      c.kind = Kind::download;
      c.in[0] = plain(program_.unit_elements > 1 ? part_of(card, 10) : c.out);
      c.out = {};
    }
    return c;
  }

  Command order(std::uint32_t dice) {
    Command c;
    c.stream = any_stream();
    c.kind = dice < 68 ? Kind::record : Kind::wait;
    // A wait may be for an event of the other card.
    c.event = c.kind == Kind::record ? event_of(card_of(c.stream)) : draw(4);
    return c;
  }

  Command host(std::uint32_t dice) {
    Command c;
    c.stream = any_stream();
    c.event = draw(4);
    c.value = any_value();
    if (dice < 80) {
      c.kind = Kind::sync_stream;
    } else if (dice < 83) {
      c.kind = Kind::sync_event;
    } else if (dice < 84) {
      c.kind = Kind::sync_device;
    } else if (dice < 86) {
      c.kind = one_in(2) ? Kind::query_event : Kind::query_stream;
    } else if (dice < 89) {
      c.kind = Kind::host_read;
      c.in[0] = plain(part_of(kArena));
    } else if (dice < 92) {
      c.kind = Kind::host_write;
      c.out = plain(part_of(kArena));
    } else if (dice < 94) {
      c.kind = Kind::free;
      const Range block = part_of(draw(kCards));
      for (const Command& command : program_.commands) {  // the start of the block that the part lies in
        if (command.kind == Kind::alloc && command.out.space == block.space &&
            (command.out.mask() & block.mask()) != 0) {
          c.out = command.out;
        }
      }
    } else if (dice < 97) {
      const int card = draw(kCards);  // compilers differ in which argument they draw first
      c = new_block(card, draw(kUnits / kSlotUnits - 1));
    } else if (dice < 98) {
      c.kind = one_in(2) ? Kind::unpin : Kind::driver_free;
      if (c.kind == Kind::unpin) c.out = {kArena, draw(kPieces) * kPieceUnits, kPieceUnits};
    } else {
      c.kind = one_in(2) ? Kind::throttle : Kind::noise;
    }
    return c;
  }

  std::mt19937_64 random_;
  Program program_;
};

}  // namespace

Program random_program(std::uint64_t seed) { return Generator(seed).program(); }

}  // namespace labrig::sim::programs
