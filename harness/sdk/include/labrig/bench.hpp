// How long does it take? labrig::bench() runs a piece of work many times and says how long it takes on its device (pure
// compute, between two events) and for the host that waits for its result (end to end). It warms up first, waits for
// the device before a clock stops, and reports medians: what measurements of GPU code forget most often.
//
//   const BenchResult result = bench([&] { matmul(a, b); }, device);
//   std::puts(result.str().c_str());
//
// On a simulated card both clocks are virtual, and one run after a first one says everything; the result says so.
// Measured figures are evidence and give no points. A library of its own, link labrig::bench. Read next:
// reference/include/labrig/stream.hpp (events).
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "labrig/device.hpp"
#include "labrig/export.hpp"

namespace labrig {

struct BenchOptions {
  int warm_ups = 3;
  int least_samples = 5;
  int most_samples = 25;
  double enough_ms = 4000;  // slow work is sampled less often: no more samples than fill this time
  // Runs of the work in a sample (at least 1), whose time is divided by it: for work that is short beside the clock's
  // resolution.
  int runs_per_sample = 1;
  // The work returns only when its result is there: end to end waits no further.
  bool work_waits = false;
};

// Milliseconds for one run.
struct BenchTime {
  double median_ms = 0;
  double low_ms = 0, high_ms = 0;  // a quarter of the samples lies below, a quarter above
  int samples = 0;
};

struct BenchResult {
  Device device;
  bool is_virtual = false;           // from the clock of a simulated machine
  std::optional<BenchTime> compute;  // between two events around the work; none on the host
  BenchTime end_to_end;              // the host's clock, until the device is done
  double empty_event_pair_ms = 0;    // what two events with nothing between them are apart; 0 on the host
  // Lines for a person.
  LABRIG_API std::string str() const;
};

// `work` queues what is to be measured in the current stream of `device` (or does it at once, on the host), as often as
// it is called. Throws what `work` throws.
// Uses Google Benchmark's list of registered benchmarks, which is empty afterwards.
LABRIG_API BenchResult bench(const std::function<void()>& work, Device device, BenchOptions options = {});
// One of the two alone. The first is not for the host.
LABRIG_API BenchTime bench_compute(const std::function<void()>& work, Device device, BenchOptions options = {});
LABRIG_API BenchTime bench_end_to_end(const std::function<void()>& work, Device device, BenchOptions options = {});

}  // namespace labrig
