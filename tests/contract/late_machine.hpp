// A simulated machine that does everything as late as allowed and reports every hazard: programs of the suite that are
// about order run on it, and must come out without one.
#pragma once

#include <gtest/gtest.h>

#include <vector>

#include "backends/sim/machine.hpp"

namespace labrig::contract {

class LateMachine {
 public:
  explicit LateMachine(std::size_t cards) : machine_(options(cards)) {}
  ~LateMachine() {
    const sim::Report report = machine_.report();
    EXPECT_EQ(report.metrics.hazards, 0u);
    for (const sim::Hazard& hazard : report.hazards) ADD_FAILURE() << hazard.text;
    EXPECT_EQ(report.violation_code, "") << report.violation_text;
  }

 private:
  static sim::MachineOptions options(std::size_t cards) {
    sim::MachineOptions options;
    options.cards.assign(cards, sim::load_profile("desktop").value());
    options.mode = sim::Mode::late;
    return options;
  }

  sim::InProcessMachine machine_;
};

}  // namespace labrig::contract
