// Values, hazards, and the shrinker.
#include "judge.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <sstream>

namespace labrig::sim::programs {
namespace {

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

bool same(float a, float b) { return a == b || (std::isnan(a) && std::isnan(b)); }

Hazard::Kind kind_of(Conflict conflict) {
  switch (conflict) {
    case Conflict::read_after_write:
      return Hazard::Kind::read_after_write;
    case Conflict::write_after_read:
      return Hazard::Kind::write_after_read;
    case Conflict::write_after_write:
      return Hazard::Kind::write_after_write;
    case Conflict::freed_in_flight:
      return Hazard::Kind::freed_in_flight;
  }
  return Hazard::Kind::freed_in_flight;
}

std::string text_of(const Program& program, const Pair& pair) {
  static constexpr const char* kNames[] = {"read after write", "write after read", "write after write", "freed"};
  return "  " + to_text(program, pair.earlier) + "  AND  " + to_text(program, pair.later) + ": " +
         kNames[static_cast<std::size_t>(pair.conflict)] + "\n";
}

// What the card says about a side is about this command. The operations of a run without tags go by their streams.
bool is_about(const Hazard::Side& side, const Program& program, std::size_t index, bool tagged) {
  const Command& command = program.commands[index];
  if (side.host != !is_operation(command.kind)) return false;
  if (side.host) return true;
  const StreamSpec& stream = program.streams[static_cast<std::size_t>(command.stream)];
  if (side.device != stream.card) return false;
  if (!tagged) return true;
  // A kernel is called by its inputs, and a fill has none.
  return side.stream == stream.id && (contains(side.what, tag_of(index)) || command.kind == Kind::fill);
}

// The bytes have been handed out again between the two.
bool has_new_block(const Program& program, const Pair& pair) {
  for (std::size_t i = pair.earlier + 1; i < pair.later; ++i) {
    const Command& command = program.commands[i];
    if (command.kind != Kind::alloc) continue;
    if ((command.out.mask() & pair.units[static_cast<std::size_t>(command.out.space)]) != 0) return true;
  }
  return false;
}

bool is_kind_of(const Hazard& hazard, const Program& program, const Pair& pair) {
  return hazard.kind == kind_of(pair.conflict) ||
         (hazard.kind == Hazard::Kind::freed_in_flight && has_new_block(program, pair));
}

// The range that the group shows lies within what the pair touches. A pair has its bytes in one space, but for a copy
// whose two ends meet two ends.
bool shows_bytes_of(const Hazard& hazard, const Program& program, const Pair& pair) {
  const auto unit = static_cast<std::uint64_t>(unit_bytes(program));
  std::uint64_t units = 0;
  for (const std::uint64_t mask : pair.units) units += static_cast<std::uint64_t>(std::popcount(mask));
  return hazard.bytes > 0 && hazard.bytes % unit == 0 && hazard.offset % unit == 0 && hazard.bytes <= units * unit;
}

}  // namespace

std::string tag_of(std::size_t index) { return "<" + std::to_string(index) + ">"; }

std::string wrong_values(const std::vector<float>& seen, const std::vector<Value>& right, const char* run) {
  std::ostringstream text;
  if (seen.size() != right.size()) {
    text << run << ": " << seen.size() << " values seen, " << right.size() << " expected\n";
    return text.str();
  }
  for (std::size_t i = 0; i < right.size(); ++i) {
    if (right[i].doubtful || same(seen[i], right[i].value)) continue;
    text << run << ": value " << i << " is " << seen[i] << " instead of " << right[i].value << "\n";
    break;
  }
  return text.str();
}

std::string wrong_hazards(const Program& program, const Report& report, const std::vector<Pair>& expected,
                          bool tagged) {
  std::ostringstream text;
  if (report.metrics.hazards != count_of(expected)) {
    text << report.metrics.hazards << " hazards reported, " << count_of(expected) << " pairs are unordered\n";
  }
  for (const Hazard& hazard : report.hazards) {
    bool known = false;
    for (const Pair& pair : expected) {
      known = known || (is_kind_of(hazard, program, pair) && is_about(hazard.earlier, program, pair.earlier, tagged) &&
                        is_about(hazard.later, program, pair.later, tagged) && shows_bytes_of(hazard, program, pair));
    }
    if (!known) text << "reported, but ordered: " << hazard.text << "\n";
  }
  if (text.str().empty()) return "";
  for (const Pair& pair : expected) text << text_of(program, pair);
  for (const Hazard& hazard : report.hazards) text << hazard.count << "x " << hazard.text << "\n";
  return text.str();
}

Program shrunk(const Program& program, const std::function<std::string(const Program&)>& complaint) {
  Program smallest = program;
  for (bool again = true; again;) {
    again = false;
    for (std::size_t length = smallest.commands.size() / 2 + 1; length >= 1; length /= 2) {
      for (std::size_t at = 0; at < smallest.commands.size();) {
        Program shorter = smallest;
        const auto first = shorter.commands.begin() + static_cast<std::ptrdiff_t>(at);
        const auto left = static_cast<std::ptrdiff_t>(std::min(length, smallest.commands.size() - at));
        shorter.commands.erase(first, first + left);
        shorter = legal(shorter);
        if (complaint(shorter).empty()) {
          at += length;
        } else {
          smallest = shorter;
          again = true;
        }
      }
    }
  }
  return smallest;
}

}  // namespace labrig::sim::programs
