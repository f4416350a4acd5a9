// What a command touches, which commands are legal, and how a program is printed.
#include "program.hpp"

#include <algorithm>
#include <optional>

namespace labrig::sim::programs {
namespace {

struct Block {
  int space, first, count;
};

// Units are taken in whole slots, also where a block asks for less.
bool overlap(const Block& a, const Block& b) {
  const auto end = [](const Block& x) { return (x.first + x.count + kSlotUnits - 1) / kSlotUnits * kSlotUnits; };
  return a.space == b.space && a.first < end(b) && b.first < end(a);
}

bool holds(const Block& block, const Range& range) {
  return block.space == range.space && range.first >= block.first &&
         range.unit(range.count - 1) < block.first + block.count;
}

const char* name_of(Kind kind) {
  static constexpr const char* kNames[] = {
      "fill",       "copy kernel", "add value",       "add",         "copy within", "copy up",    "copy down",
      "copy peer",  "upload",      "upload and wait", "download",    "record",      "wait",       "sync stream",
      "sync event", "sync device", "query stream",    "query event", "host read",   "host write", "alloc",
      "free",       "unpin",       "driver free",     "throttle",    "noise"};
  return kNames[static_cast<std::size_t>(kind)];
}

std::string text_of(const Range& range) {
  if (range.count == 0) return "";
  std::string text = (range.space == kArena ? std::string("pinned") : "sim:" + std::to_string(range.space)) + "[" +
                     std::to_string(range.first) + "," + std::to_string(range.unit(range.count - 1) + 1);
  if (range.step != 1) text += " step " + std::to_string(range.step);
  return text + ")";
}

bool uses_event(Kind kind) {
  return kind == Kind::record || kind == Kind::wait || kind == Kind::sync_event || kind == Kind::query_event;
}

bool uses_stream(Kind kind) {
  return is_operation(kind) || kind == Kind::sync_stream || kind == Kind::sync_device || kind == Kind::query_stream ||
         kind == Kind::driver_free;
}

}  // namespace

std::uint64_t Range::mask() const {
  std::uint64_t bits = 0;
  for (int i = 0; i < count; ++i) bits |= std::uint64_t{1} << unit(i);
  return bits;
}

bool is_operation(Kind kind) { return kind <= Kind::wait; }

Masks reads_of(const Command& command) {
  Masks masks{};
  for (const Range& range : command.in) masks[static_cast<std::size_t>(range.space)] |= range.mask();
  return masks;
}

Masks writes_of(const Command& command) {
  Masks masks{};
  if (command.kind != Kind::alloc && command.kind != Kind::free && command.kind != Kind::unpin) {
    masks[static_cast<std::size_t>(command.out.space)] |= command.out.mask();
  }
  return masks;
}

Program legal(const Program& program) {
  Program kept = program;
  kept.commands.clear();
  std::vector<Block> live;
  for (int piece = 0; piece < kPieces; ++piece) live.push_back({kArena, piece * kPieceUnits, kPieceUnits});
  const auto inside = [&](const Range& range) {
    return range.count == 0 ||
           std::any_of(live.begin(), live.end(), [&](const Block& block) { return holds(block, range); });
  };
  for (const Command& command : program.commands) {
    const bool moves = is_operation(command.kind) && command.kind != Kind::record && command.kind != Kind::wait;
    if (moves && command.out.count == 0 && command.in[0].count == 0) continue;
    const Block block{command.out.space, command.out.first, command.out.count};
    if (command.kind == Kind::alloc) {
      if (std::any_of(live.begin(), live.end(), [&](const Block& other) { return overlap(block, other); })) continue;
      live.push_back(block);
    } else if (command.kind == Kind::free) {
      const auto found = std::find_if(live.begin(), live.end(), [&](const Block& other) {
        return other.space == block.space && other.first == block.first;
      });
      if (found == live.end()) continue;
      live.erase(found);
    } else if (!inside(command.out) || !inside(command.in[0]) || !inside(command.in[1])) {
      continue;
    }
    kept.commands.push_back(command);
  }
  return kept;
}

std::string to_text(const Program& program, std::size_t index) {
  const Command& command = program.commands[index];
  std::string text = "#" + std::to_string(index) + " " + name_of(command.kind);
  if (command.out.count != 0) text += " " + text_of(command.out);
  for (const Range& range : command.in) {
    if (range.count != 0) text += " <- " + text_of(range);
  }
  if (uses_event(command.kind)) text += " event " + std::to_string(command.event);
  if (uses_stream(command.kind)) {
    const StreamSpec& stream = program.streams[static_cast<std::size_t>(command.stream)];
    text += " on sim:" + std::to_string(stream.card) + " stream " + std::to_string(stream.id);
    if (stream.id != 0 && stream.blocking) text += " (blocking)";
  }
  if (command.implied) text += " (implied)";
  return text;
}

std::string to_text(const Program& program) {
  std::string text =
      "seed " + std::to_string(program.seed) + ", units of " + std::to_string(unit_bytes(program)) + " bytes" +
      (program.throttle_every > 0 ? ", throttle every " + std::to_string(program.throttle_every) : "") + "\n";
  for (std::size_t i = 0; i < program.commands.size(); ++i) text += "  " + to_text(program, i) + "\n";
  return text;
}

}  // namespace labrig::sim::programs
