// For lab authors: what a program would take on a card of a given profile, without moving a byte. Runs on a simulated
// card in cost-only mode inside this process, in virtual time; for the judge's side of questions such as "was it worth
// the move?". Nothing here is for submissions: labs forbid it.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "labrig/device.hpp"
#include "labrig/export.hpp"

namespace labrig::lab {

// What may differ from the profile.
struct CostCardChanges {
  std::uint64_t capacity_bytes = 0;         // of its memory; 0: as in the profile
  std::uint64_t other_processes_bytes = 0;  // that others hold from the start
  // From `later_seconds` of virtual time on they hold `later_bytes`.
  double later_seconds = 0;
  std::optional<std::uint64_t> later_bytes;
  int cards = 1;  // alike
};

class LABRIG_API CostCard {
 public:
  // `profile` is a name or a path, as in lab.toml. Throws Error `unknown-profile`. While a CostCard lives, `sim:0` of
  // this process is its card, with a fresh allocator; with `cards`, sim:0 … are that many alike. The tensors on them go
  // before it does.
  explicit CostCard(const std::string& profile, const CostCardChanges& changes = {});
  ~CostCard();
  CostCard(const CostCard&) = delete;
  CostCard& operator=(const CostCard&) = delete;

  Device device() const { return Device(DeviceType::sim, 0); }
  // Seconds of virtual time that `program()` takes, from an idle card to an idle card. Tensors may have any size;
  // reading a value throws.
  template <class Program>
  double seconds(Program&& program) {
    start();
    program();
    return stop();
  }
  // Seconds of one host operator of this cost: the slower of arithmetic and memory, plus the call.
  double host_seconds(double flops, double memory_bytes) const;

 private:
  void start();
  double stop();
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace labrig::lab
