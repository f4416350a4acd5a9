// The device on which recorded programs are run again. For `sim` a simulated machine of our own with one card, the same
// on every computer; it can be started anew, as a card that has seen a failed kernel does nothing more.
#pragma once

#include <memory>

#include "backends/sim/machine.hpp"
#include "labrig/device.hpp"

namespace labrig::conform {

class Target {
 public:
  // What the card computes; `none` keeps count of memory and time alone, and no value may be read.
  enum class Values : std::uint8_t { all, none };

  // Throws `invalid-device` when there is no such device.
  explicit Target(Device device, Values values = Values::all);
  Device device() const { return device_; }
  bool is_card() const { return !device_.is_cpu(); }
  // A fresh machine. No tensor of the old one may be used again. Nothing happens on other devices.
  void restart();

 private:
  Device device_;
  sim::MachineOptions options_;
  std::unique_ptr<sim::InProcessMachine> machine_;
};

}  // namespace labrig::conform
