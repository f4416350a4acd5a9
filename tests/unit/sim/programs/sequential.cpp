// One command after another over three arrays.
#include "sequential.hpp"

#include <limits>

namespace labrig::sim::programs {
namespace {

constexpr float kUndefined = std::numeric_limits<float>::quiet_NaN();

struct Machine {
  std::array<std::array<Value, kUnits>, kSpaces> memory{};

  Value& at(const Range& range, int index) {
    return memory[static_cast<std::size_t>(range.space)][static_cast<std::size_t>(range.unit(index))];
  }
  std::vector<Value> read(const Range& range) {
    std::vector<Value> values;
    for (int i = 0; i < range.count; ++i) values.push_back(at(range, i));
    return values;
  }
};

// The units that a command reads, or writes, in an unordered pair.
struct Doubts {
  Masks reads{}, writes{};
};

std::vector<Doubts> doubts_of(const Program& program, const std::vector<Pair>& unordered) {
  std::vector<Doubts> doubts(program.commands.size());
  const auto mark = [](Masks& into, const Masks& units) {
    for (std::size_t space = 0; space < kSpaces; ++space) into[space] |= units[space];
  };
  for (const Pair& pair : unordered) {
    Doubts &earlier = doubts[pair.earlier], &later = doubts[pair.later];
    switch (pair.conflict) {
      case Conflict::read_after_write:
        mark(later.reads, pair.units);
        break;
      case Conflict::write_after_read:
        mark(earlier.reads, pair.units);
        mark(later.writes, pair.units);  // where the earlier one was carried out before
        break;
      case Conflict::write_after_write:
      case Conflict::freed_in_flight:
        mark(earlier.reads, pair.units);
        mark(earlier.writes, pair.units);
        mark(later.writes, pair.units);
        break;
    }
  }
  return doubts;
}

bool has(const Masks& masks, const Range& range, int index) {
  return (masks[static_cast<std::size_t>(range.space)] >> range.unit(index) & 1) != 0;
}

void carry_out(Machine& machine, const Command& command, const Doubts& doubts) {
  std::vector<Value> in[2];
  for (int operand = 0; operand < 2; ++operand) {
    in[operand] = machine.read(command.in[operand]);
    for (int i = 0; i < command.in[operand].count; ++i) {
      in[operand][static_cast<std::size_t>(i)].doubtful |= has(doubts.reads, command.in[operand], i);
    }
  }
  for (int i = 0; i < command.out.count; ++i) {
    const auto n = static_cast<std::size_t>(i);
    Value result;
    switch (command.kind) {
      case Kind::fill:
        result.value = command.value;
        break;
      case Kind::upload:
      case Kind::upload_blocking:
      case Kind::host_write:
      case Kind::unpin:
        result.value = command.value + static_cast<float>(i);
        break;
      case Kind::add_value:
        result = {in[0][n].value + command.value, in[0][n].doubtful};
        break;
      case Kind::add:
        result = {in[0][n].value + in[1][n].value, in[0][n].doubtful || in[1][n].doubtful};
        break;
      case Kind::alloc:
        result.value = kUndefined;
        break;
      case Kind::free:
        continue;
      default:
        result = in[0][n];
    }
    result.doubtful |= has(doubts.writes, command.out, i);
    machine.at(command.out, i) = result;
  }
}

}  // namespace

std::vector<Value> sequential_values(const Program& program, const std::vector<Pair>& unordered) {
  Machine machine;
  for (auto& space : machine.memory) space.fill({kUndefined, false});
  for (int unit = 0; unit < kUnits; ++unit)
    machine.memory[kArena][static_cast<std::size_t>(unit)].value = arena_start(unit);
  const std::vector<Doubts> doubts = doubts_of(program, unordered);
  std::vector<Value> seen;
  const auto see = [&](const Range& range, const Masks& doubtful) {
    const std::vector<Value> values = machine.read(range);
    for (int i = 0; i < range.count; ++i) {
      seen.push_back(values[static_cast<std::size_t>(i)]);
      seen.back().doubtful |= has(doubtful, range, i);
    }
  };
  for (std::size_t i = 0; i < program.commands.size(); ++i) {
    const Command& command = program.commands[i];
    if (command.kind == Kind::download || command.kind == Kind::host_read) {
      see(command.in[0], doubts[i].reads);
    } else {
      carry_out(machine, command, doubts[i]);
    }
  }
  see({kArena, 0, kUnits}, {});
  for (const Range& block : live_at_the_end(program)) see(block, {});
  return seen;
}

bool reads_undefined_bytes(const Program& program) {
  Masks undefined{};
  const auto meets = [&](const Masks& masks) {
    for (std::size_t space = 0; space < kSpaces; ++space) {
      if ((masks[space] & undefined[space]) != 0) return true;
    }
    return false;
  };
  for (const Command& command : program.commands) {
    if (meets(reads_of(command))) return true;
    if (command.kind == Kind::alloc) undefined[static_cast<std::size_t>(command.out.space)] |= command.out.mask();
    const Masks written = writes_of(command);
    for (std::size_t space = 0; space < kSpaces; ++space) undefined[space] &= ~written[space];
  }
  for (const Range& block : live_at_the_end(program)) {
    if ((block.mask() & undefined[static_cast<std::size_t>(block.space)]) != 0) return true;
  }
  return false;
}

std::vector<Range> live_at_the_end(const Program& program) {
  std::vector<Range> live;
  for (const Command& command : program.commands) {
    if (command.kind == Kind::alloc) live.push_back(command.out);
    if (command.kind == Kind::free) {
      std::erase_if(live, [&](const Range& block) {
        return block.space == command.out.space && block.first == command.out.first;
      });
    }
  }
  return live;
}

}  // namespace labrig::sim::programs
