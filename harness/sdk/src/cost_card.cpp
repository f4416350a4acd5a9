// CostCard: a simulated machine in cost-only mode, read before and after a program.
#include "labrig/cost_card.hpp"

#include <algorithm>
#include <limits>

#include "backends/sim/machine.hpp"
#include "labrig/stream.hpp"

namespace labrig::lab {

struct CostCard::State {
  sim::Profile profile;
  sim::InProcessMachine machine;
  std::int64_t start_ps = 0;

  static sim::MachineOptions options(const sim::Profile& profile) {
    sim::MachineOptions options;
    options.cards = {profile};
    options.data = false;
    options.limits.trace_events = 0;
    // Kernels of any size cost nothing where nothing is computed.
    options.limits.kernel_steps = options.limits.case_steps = std::numeric_limits<std::uint64_t>::max();
    return options;
  }
  static sim::Profile read(const std::string& name, std::uint64_t capacity_bytes) {
    sim::Profile profile = sim::load_profile(name).value();
    if (capacity_bytes != 0) profile.capacity_bytes = capacity_bytes;
    return profile;
  }
  State(const std::string& name, std::uint64_t capacity_bytes)
      : profile(read(name, capacity_bytes)), machine(options(profile)) {}
};

CostCard::CostCard(const std::string& profile, std::uint64_t capacity_bytes)
    : state_(std::make_unique<State>(profile, capacity_bytes)) {}
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
