// Small random programs for the simulated card, as data: what the generator makes, the model judges, the card runs and
// the shrinker cuts. Nothing here knows how the card works.
//
//   generate ─► Program ─┬─► order.hpp       which operations nothing orders (brute force)
//                        ├─► sequential.hpp  what every value must be where nothing races
//                        ├─► late.hpp        what late mode shows, races and all
//                        ├─► card_run.hpp    the card itself, record by record    ─┐
//                        └─► library_run.hpp the card, in a submission's language ─┴► judge.hpp compares
//
// Memory is counted in units, 64 of them in each of three spaces: the two cards and the pinned arena. A set of units is
// one 64-bit word, so that an access is three words.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace labrig::sim::programs {

inline constexpr int kCards = 2;
inline constexpr int kArena = kCards;  // the third space
inline constexpr int kSpaces = kCards + 1;
inline constexpr int kUnits = 64;       // of a space
inline constexpr int kSlotUnits = 8;    // blocks of a card start at multiples of this
inline constexpr int kPieceUnits = 16;  // the arena is four pieces of pinned memory
inline constexpr int kPieces = kUnits / kPieceUnits;

// Units of one space. Empty: nothing.
struct Range {
  int space = 0, first = 0, count = 0, step = 1;
  std::uint64_t mask() const;
  int unit(int index) const { return first + index * step; }
};

using Masks = std::array<std::uint64_t, kSpaces>;

enum class Kind : std::uint8_t {
  // operations in a stream
  fill,             // out <- value
  copy_kernel,      // out <- in[0]
  add_value,        // out <- in[0] + value
  add,              // out <- in[0] + in[1]
  copy_within,      // out <- in[0], by the card's copy command
  copy_up,          // from the arena
  copy_down,        // to the arena
  copy_peer,        // out on the other card
  upload,           // pageable, the host does not wait; element i is value + i
  upload_blocking,  // the same, and the host waits
  download,         // to pageable memory; the host waits and sees in[0]
  record,
  wait,
  // the host
  sync_stream,
  sync_event,
  sync_device,
  query_stream,
  query_event,
  host_read,    // sees in[0]
  host_write,   // out <- value, value + 1, …
  alloc,        // a block of `out.count` units at out.first
  free,         // the block at out.first
  unpin,        // a piece of the arena is given back, taken again and written whole
  driver_free,  // takes memory from the driver and gives it back
  throttle,
  noise,  // what must not order anything: clock, statistics, elapsed, marker, host work
};

struct Command {
  Kind kind{};
  int stream = 0;  // index into Program::streams; its card is the command's card
  int event = 0;
  Range out, in[2];
  float value = 0;
  bool implied = false;  // done by the call before or after it: the library's own waits
};

struct StreamSpec {
  int card = 0, id = 0;   // id 0: the default stream of the card
  bool blocking = false;  // always true of the default stream
};

enum class Element : std::uint8_t { f32, u8 };

struct Program {
  std::uint64_t seed = 0;
  std::vector<StreamSpec> streams;
  int events = 0;  // event e belongs to card event_card(e)
  Element element = Element::f32;
  int unit_elements = 1;
  int throttle_every = 0;  // commands; 0: never
  std::vector<Command> commands;
};

// A throttle follows the command.
inline bool throttled_after(const Program& program, std::size_t command) {
  return program.throttle_every > 0 && (command + 1) % static_cast<std::size_t>(program.throttle_every) == 0;
}
inline int event_card(int event) { return event % kCards; }
inline int unit_bytes(const Program& program) {
  return program.unit_elements * (program.element == Element::f32 ? 4 : 1);
}

bool is_operation(Kind kind);  // goes into a stream
Masks reads_of(const Command& command);
Masks writes_of(const Command& command);

// The program without the commands that the card would have to refuse (accesses outside a live block, blocks that
// overlap, frees of nothing) or that do nothing.
Program legal(const Program& program);

// One line a command, as a person would write it down.
std::string to_text(const Program& program);
std::string to_text(const Program& program, std::size_t command);

}  // namespace labrig::sim::programs
