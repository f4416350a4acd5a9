// bench(): how often and between which clocks. On a real device Google Benchmark repeats and collects, with the times
// that we measure (its manual time); a virtual clock says the same at every repetition and is asked once.
#include "labrig/bench.hpp"

#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <exception>
#include <vector>

#include "device/backend.hpp"
#include "labrig/stream.hpp"

namespace labrig {
namespace {

using Sample = std::function<double()>;  // milliseconds of one run

// Keeps the time of each repetition and prints nothing.
class Collector final : public benchmark::BenchmarkReporter {
 public:
  bool ReportContext(const Context&) override { return true; }
  void ReportRuns(const std::vector<Run>& runs) override {
    for (const Run& run : runs)
      if (run.run_type == Run::RT_Iteration) samples_ms.push_back(run.GetAdjustedRealTime());
  }
  std::vector<double> samples_ms;
};

// The value below which `part` of the sorted samples lie.
double quantile(const std::vector<double>& sorted, double part) {
  const double place = part * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(place), above = std::min(below + 1, sorted.size() - 1);
  return sorted[below] + (place - static_cast<double>(below)) * (sorted[above] - sorted[below]);
}

BenchTime summary(std::vector<double> samples_ms) {
  std::ranges::sort(samples_ms);
  return {quantile(samples_ms, 0.5), quantile(samples_ms, 0.25), quantile(samples_ms, 0.75),
          static_cast<int>(samples_ms.size())};
}

std::vector<double> repeated(const Sample& sample, int repetitions) {
  std::exception_ptr error;
  benchmark::ClearRegisteredBenchmarks();
  benchmark::RegisterBenchmark("work",
                               [&](benchmark::State& state) {
                                 for (auto iteration : state) {
                                   try {
                                     state.SetIterationTime(error ? 0 : sample() / 1e3);
                                   } catch (...) {
                                     error = std::current_exception();
                                   }
                                 }
                               })
      ->UseManualTime()
      ->Iterations(1)
      ->Repetitions(repetitions)
      ->Unit(benchmark::kMillisecond);
  Collector collector;
  benchmark::RunSpecifiedBenchmarks(&collector, nullptr, ".");
  benchmark::ClearRegisteredBenchmarks();
  if (error) std::rethrow_exception(error);
  return collector.samples_ms;
}

BenchTime measure(const Sample& sample, Device device, const BenchOptions& options) {
  if (device.type() == DeviceType::sim) {
    sample();  // what the first run alone pays: memory of the driver
    return summary({sample()});
  }
  double last_ms = 0;
  for (int i = 0; i < std::max(1, options.warm_ups); ++i) last_ms = sample();
  const double enough = options.enough_ms / std::max(last_ms * options.runs_per_sample, 1e-6);
  const int wanted = enough < options.most_samples ? static_cast<int>(enough) : options.most_samples;
  return summary(repeated(sample, std::max({1, options.least_samples, wanted})));
}

// Between two events in the current stream.
Sample between_events(const std::function<void()>& work, Device device, int runs) {
  return [&work, device, runs] {
    Event begin(device), end(device);
    synchronize(device);
    begin.record();
    for (int i = 0; i < runs; ++i) work();
    end.record();
    end.synchronize();
    return begin.elapsed_ms(end) / runs;
  };
}

// On the host's clock, from an idle device to an idle device.
Sample end_to_end(const std::function<void()>& work, Device device, const BenchOptions& options) {
  Backend& backend = backend_of(device);
  return [&work, &backend, device, runs = options.runs_per_sample, waits = options.work_waits] {
    synchronize(device);
    const std::int64_t begin = backend.clock_ns();
    for (int i = 0; i < runs; ++i) work();
    if (!waits) synchronize(device);
    return static_cast<double>(backend.clock_ns() - begin) / 1e6 / runs;
  };
}

std::string row(const char* name, const BenchTime& time) {
  return fmt::format("  {:<12} {:>12.6f} ms  (half of {} samples from {:.6f} to {:.6f})\n", name, time.median_ms,
                     time.samples, time.low_ms, time.high_ms);
}

}  // namespace

BenchTime bench_compute(const std::function<void()>& work, Device device, BenchOptions options) {
  device = resolve(device);
  return measure(between_events(work, device, options.runs_per_sample), device, options);
}

BenchTime bench_end_to_end(const std::function<void()>& work, Device device, BenchOptions options) {
  device = resolve(device);
  return measure(end_to_end(work, device, options), device, options);
}

BenchResult bench(const std::function<void()>& work, Device device, BenchOptions options) {
  BenchResult result;
  result.device = resolve(device);
  result.is_virtual = device.type() == DeviceType::sim;
  result.end_to_end = bench_end_to_end(work, device, options);
  if (device.is_cpu()) return result;
  result.compute = bench_compute(work, device, options);
  result.empty_event_pair_ms = bench_compute([] {}, device).median_ms;
  return result;
}

std::string BenchResult::str() const {
  std::string text = fmt::format("on {}, {}\n", device.str(), is_virtual ? "on its virtual clock" : "measured");
  if (compute) text += row("compute", *compute);
  text += row("end to end", end_to_end);
  if (!device.is_cpu()) text += fmt::format("  {:<12} {:>12.6f} ms\n", "two events", empty_event_pair_ms);
  return text;
}

}  // namespace labrig
