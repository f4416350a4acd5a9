// Each command is first submitted (what it reads as poison is settled then) and later carried out.
#include "late.hpp"

#include <algorithm>
#include <limits>

namespace labrig::sim::programs {
namespace {

constexpr float kPoison = std::numeric_limits<float>::quiet_NaN();

struct Effect {
  Masks read_as_poison{}, left_as_poison{};
};

void add(Masks& masks, const Masks& more) {
  for (std::size_t space = 0; space < kSpaces; ++space) masks[space] |= more[space];
}

bool has(const Masks& masks, const Range& range, int index) {
  return (masks[static_cast<std::size_t>(range.space)] >> range.unit(index) & 1) != 0;
}

class LateCard {
 public:
  LateCard(const Program& program, const std::vector<Pair>& unordered, const std::vector<bool>& answers)
      : program_(program), when_(carried_out_at(program, answers)), effects_(program.commands.size()) {
    for (auto& space : memory_) space.fill(kPoison);
    for (int unit = 0; unit < kUnits; ++unit) memory_[kArena][static_cast<std::size_t>(unit)] = arena_start(unit);
    for (const Pair& pair : unordered) settle(pair);
  }

  std::vector<Value> run() {
    for (std::size_t moment = 0; moment <= 2 * program_.commands.size(); ++moment) {
      if (moment % 2 == 0 && moment / 2 < program_.commands.size()) submit(moment / 2);
      for (std::size_t k = 0; k < program_.commands.size(); ++k) {
        if (when_[k] == moment) carry_out(k);
      }
    }
    see({kArena, 0, kUnits}, {});
    for (const Range& block : live_at_the_end(program_)) {
      Masks undefined = undefined_;
      undefined[kArena] = 0;
      see(block, undefined);
    }
    return seen_;
  }

 private:
  // A host access is no operation: it meets the bytes that are there, and poisons nothing.
  void settle(const Pair& pair) {
    if (!is_operation(program_.commands[pair.later].kind)) return;
    Effect &earlier = effects_[pair.earlier], &later = effects_[pair.later];
    const bool is_done = when_[pair.earlier] < 2 * pair.later;  // by a throttle
    switch (pair.conflict) {
      case Conflict::read_after_write:
        add(later.read_as_poison, pair.units);
        return;
      case Conflict::write_after_read:
        add(is_done ? later.left_as_poison : earlier.read_as_poison, pair.units);
        return;
      case Conflict::write_after_write:
        if (!is_done) add(earlier.left_as_poison, pair.units);
        add(later.left_as_poison, pair.units);
        return;
      case Conflict::freed_in_flight:
        return;
    }
  }

  void submit(std::size_t index) {
    const Command& command = program_.commands[index];
    const Masks reads = reads_of(command), writes = writes_of(command);
    for (std::size_t space = 0; space < kCards; ++space) {
      effects_[index].read_as_poison[space] |= reads[space] & undefined_[space];
      undefined_[space] &= ~writes[space];
    }
    if (command.kind == Kind::alloc) undefined_[static_cast<std::size_t>(command.out.space)] |= command.out.mask();
  }

  float at(const Range& range, int index, const Masks& poison) const {
    if (has(poison, range, index)) return kPoison;
    return memory_[static_cast<std::size_t>(range.space)][static_cast<std::size_t>(range.unit(index))];
  }
  std::vector<float> read(const Range& range, const Masks& poison) const {
    std::vector<float> values;
    for (int i = 0; i < range.count; ++i) values.push_back(at(range, i, poison));
    return values;
  }
  void see(const Range& range, const Masks& poison) {
    for (const float value : read(range, poison)) seen_.push_back({value, false});
  }

  static float result(const Command& command, int i, const std::vector<float>& a, const std::vector<float>& b) {
    const auto n = static_cast<std::size_t>(i);
    switch (command.kind) {
      case Kind::fill:
        return command.value;
      case Kind::upload:
      case Kind::upload_blocking:
      case Kind::host_write:
      case Kind::unpin:
        return command.value + static_cast<float>(i);
      case Kind::add_value:
        return a[n] + command.value;
      case Kind::add:
        return a[n] + b[n];
      default:
        return a[n];
    }
  }

  void carry_out(std::size_t index) {
    const Command& command = program_.commands[index];
    const Effect& effect = effects_[index];
    if (command.kind == Kind::download || command.kind == Kind::host_read) {
      return see(command.in[0], effect.read_as_poison);
    }
    if (command.kind == Kind::alloc || command.kind == Kind::free) return;
    const std::vector<float> a = read(command.in[0], effect.read_as_poison);
    const std::vector<float> b = read(command.in[1], effect.read_as_poison);
    for (int i = 0; i < command.out.count; ++i) {
      const bool contested = is_operation(command.kind) && has(effect.left_as_poison, command.out, i);
      memory_[static_cast<std::size_t>(command.out.space)][static_cast<std::size_t>(command.out.unit(i))] =
          contested ? kPoison : result(command, i, a, b);
    }
  }

  const Program& program_;
  const std::vector<std::size_t> when_;
  std::vector<Effect> effects_;
  std::array<std::array<float, kUnits>, kSpaces> memory_{};
  Masks undefined_{};
  std::vector<Value> seen_;
};

}  // namespace

std::vector<Value> late_values(const Program& program, const std::vector<Pair>& unordered,
                               const std::vector<bool>& answers) {
  return LateCard(program, unordered, answers).run();
}

}  // namespace labrig::sim::programs
