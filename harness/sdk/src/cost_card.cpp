// CostCard: a simulated machine in cost-only mode, read before and after a program.
#include "labrig/cost_card.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "backends/sim/machine.hpp"
#include "labrig/stream.hpp"

namespace labrig::lab {

struct CostCard::State {
  sim::Profile profile;
  sim::InProcessMachine machine;
  std::int64_t start_ps = 0;

  static sim::MachineOptions options(const sim::Profile& profile, int cards) {
    sim::MachineOptions options;
    options.cards.assign(static_cast<std::size_t>(cards), profile);
    options.data = false;
    options.limits.trace_events = 0;
    // Kernels of any size cost nothing where nothing is computed.
    options.limits.kernel_steps = options.limits.case_steps = std::numeric_limits<std::uint64_t>::max();
    return options;
  }
  State(sim::Profile changed, int cards) : profile(std::move(changed)), machine(options(profile, cards)) {}
};

namespace {

sim::Profile changed(sim::Profile profile, const CostCardChanges& changes) {
  if (changes.capacity_bytes != 0) profile.capacity_bytes = changes.capacity_bytes;
  if (changes.other_processes_bytes != 0) profile.other_processes_bytes = changes.other_processes_bytes;
  if (changes.later_bytes)
    profile.other_processes_schedule = {{std::llround(changes.later_seconds * 1e12), *changes.later_bytes}};
  return profile;
}

}  // namespace

CostCard::CostCard(const std::string& profile, const CostCardChanges& changes)
    : state_(std::make_unique<State>(changed(sim::load_profile(profile).value(), changes), changes.cards)) {}
CostCard::~CostCard() = default;

double CostCard::host_seconds(double flops, double memory_bytes) const {
  const sim::Profile& p = state_->profile;
  return std::max(flops / static_cast<double>(p.host_flops_per_s),
                  memory_bytes / static_cast<double>(p.host_bytes_per_s)) +
         static_cast<double>(p.host_call_ps) * 1e-12;
}

void CostCard::start() {
  synchronize(device());
  state_->start_ps = state_->machine.report().metrics.time_ps;
}

double CostCard::stop() {
  synchronize(device());
  return static_cast<double>(state_->machine.report().metrics.time_ps - state_->start_ps) * 1e-12;
}

}  // namespace labrig::lab
