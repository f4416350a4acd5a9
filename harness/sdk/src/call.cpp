// Call: one call of a submission, on the worker's side.
#include "backends/sim/machine.hpp"
#include "device/backend.hpp"
#include "labrig/error.hpp"
#include "labrig/lab.hpp"

namespace labrig::lab {

void Call::start_counting() {
  if (counting_started_)
    throw Error("counting-started-twice", "start_counting() was called a second time",
                "counters start once a call, at zero", "call it once, just before the part of call() that is graded");
  counting_started_ = true;
  if (device_.type() == DeviceType::sim) sim::begin_region();
}

void Call::host_work(std::uint64_t flops, std::uint64_t bytes, std::string_view name) {
  if (Backend* const clock = attached_sim_clock()) clock->host_work({flops, bytes}, name);
}

void Call::mark_loop() {
  if (Backend* const clock = attached_sim_clock()) clock->mark_loop();
}

}  // namespace labrig::lab
