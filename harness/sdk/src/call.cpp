// Call: one call of a submission, on the worker's side.
#include "backends/sim/machine.hpp"
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

}  // namespace labrig::lab
