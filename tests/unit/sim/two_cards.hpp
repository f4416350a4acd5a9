// Small programs for two cards: streams 1 and 2 of each do not block; blocks and pinned blocks of 16 floats.
#pragma once

#include "test_card.hpp"

namespace labrig::sim {

inline constexpr std::uint64_t kAsked = static_cast<std::uint64_t>(CommandCause::asked);
inline constexpr std::uint64_t kBytes = 64;

inline MachineOptions options_of(Mode mode, int cards = 1) {
  MachineOptions options = options_with(round_profile());
  for (int i = 1; i < cards; ++i) options.cards.push_back(round_profile());
  options.mode = mode;
  return options;
}

class Program {
 public:
  explicit Program(Mode mode) : card_(options_of(mode, 2)) {
    for (const auto device : {std::uint16_t{0}, std::uint16_t{1}}) {
      for (const auto stream : {std::uint16_t{1}, std::uint16_t{2}}) {
        card_.send(Opcode::stream_create, {kStreamNonBlocking}, {device, stream});
      }
    }
    card_.send(Opcode::event_create, {0});
    card_.send(Opcode::event_create, {1});
  }
  TestCard& card() { return card_; }
  std::uint64_t block(std::uint16_t device = 0) { return card_.block(kBytes, card_.name("t"), device); }
  std::uint64_t pinned() { return card_.pinned(kBytes, card_.name("p")); }

  void fill(std::uint64_t block, float value, std::uint16_t stream, std::int64_t elements = 16) {
    card_.launch(call_of(Kernel::fill, {operand_at(block, kF32, {elements}, Access::write)}, value), {0, stream});
  }
  // `to` <- max(`from`, 0)
  void relu(std::uint64_t to, std::uint64_t from, std::uint16_t stream) {
    card_.launch(
        call_of(Kernel::relu, {operand_at(to, kF32, {16}, Access::write), operand_at(from, kF32, {16}, Access::read)}),
        {0, stream});
  }
  void up(std::uint64_t to, std::uint64_t from, std::uint16_t stream) {
    card_.send(Opcode::copy_up, {to, from, kBytes, kCopyNonBlocking}, {0, stream});
  }
  void down(std::uint64_t to, std::uint64_t from, std::uint16_t stream) {
    card_.send(Opcode::copy_down, {to, from, kBytes, kCopyNonBlocking}, {0, stream});
  }
  void peer(std::uint64_t to, std::uint64_t from, About where) {
    card_.send(Opcode::copy_peer, {to, from, kBytes, kCopyNonBlocking}, where);
  }
  void sync(std::uint16_t stream) { card_.send(Opcode::sync_stream, {kAsked}, {0, stream}); }
  // What a blocking copy on the stream sees.
  std::vector<float> read(std::uint64_t block, About where) {
    std::vector<float> values(16);
    card_.download(values.data(), block, kBytes, 0, where);
    return values;
  }
  std::uint64_t hazards() { return card_.metrics().hazards; }

 private:
  TestCard card_;
};

}  // namespace labrig::sim
