// The measurements behind `labrig bench`: a product of two matrices on the host, on a card, and from host memory to
// host memory (field note F55); copies of all kinds and sizes. On `sim` times are read from the virtual clock of a
// machine that only counts costs, once; on a real device each is the median of many runs after a warm-up (F51), kernels
// by events (F52), all work done before a clock stops. Read next: bench.cpp (the command and its tables).
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "backends/sim/machine.hpp"
#include "labrig/device.hpp"

namespace labrig::app {

// Milliseconds for one product of two n x n matrices, f32. No value: the device is the host itself.
struct CrossoverRow {
  std::int64_t n = 0;
  double cpu_ms = 0;                    // on the host, with all its threads
  std::optional<double> compute_ms;     // on the card, operands and result there
  std::optional<double> end_to_end_ms;  // operands from, result to, pageable host memory
};

struct CopyRow {
  std::size_t bytes = 0;
  std::string direction;  // h2d, d2h, d2d
  std::string memory;     // the host's: pinned, pageable; for d2d: device
  double ms = 0;          // until the copy is done and the host knows it
  double gb_per_s() const { return static_cast<double>(bytes) / ms / 1e6; }
};

class BenchDevice {
 public:
  // `profile` is for `sim` only; empty means desktop. Throws Error when there is no such device or profile.
  BenchDevice(Device device, const std::string& profile);

  Device device() const { return device_; }
  bool simulated() const { return machine_ != nullptr; }
  const sim::Profile& profile() const { return profile_; }  // of a simulated device
  int host_threads() const;

  std::vector<CrossoverRow> crossover() const;
  // Sizes that fit half of the card.
  std::vector<CopyRow> copies() const;
  // What two events with nothing between them are apart: the floor of compute_ms.
  double empty_event_pair_ms() const;

 private:
  double wall_ms(const std::function<void()>& work) const;    // host time of work that waits for the card
  double device_ms(const std::function<void()>& work) const;  // between two events around it
  double host_product_ms(std::int64_t n) const;

  Device device_;
  sim::Profile profile_;
  std::unique_ptr<sim::InProcessMachine> machine_;  // for `sim`
};

}  // namespace labrig::app
