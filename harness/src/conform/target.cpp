// Starts and ends the simulated machine of a comparison.
#include "conform/target.hpp"

#include <limits>

namespace labrig::conform {
namespace {

// The card that the recordings were made on has the same capabilities.
constexpr const char* kProfile = "h200";

}  // namespace

Target::Target(Device device, Values values) : device_(device) {
  if (device.type() == DeviceType::sim) {
    options_.cards = {sim::load_profile(kProfile).value()};
    options_.data = values == Values::all;
    options_.limits.trace_events = 0;
    if (!options_.data) {
      // Kernels of any size cost nothing where nothing is computed.
      options_.limits.kernel_steps = options_.limits.case_steps = std::numeric_limits<std::uint64_t>::max();
    }
    restart();
  }
  device_ = resolve(device);
}

void Target::restart() {
  if (device_.type() != DeviceType::sim) return;
  machine_.reset();
  machine_ = std::make_unique<sim::InProcessMachine>(options_);
}

}  // namespace labrig::conform
