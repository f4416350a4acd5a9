// Operators, forward, on the device that LABRIG_DEVICE names (by default a real card if there is one, else the host).
// Each time is from an idle device to an idle device, so that a small operator shows what a call costs.
#include <benchmark/benchmark.h>

#include <chrono>

#include "labrig/ops.hpp"
#include "labrig/stream.hpp"

namespace labrig {
namespace {

template <class Operator>
void time(benchmark::State& state, Operator op, std::int64_t flops) {
  const Device device = pick_device();
  const auto run = op(device);
  run();
  synchronize(device);
  for (auto _ : state) {
    const auto begin = std::chrono::steady_clock::now();
    run();
    synchronize(device);
    state.SetIterationTime(std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
  }
  state.counters["flop/s"] =
      benchmark::Counter(static_cast<double>(flops), benchmark::Counter::kIsIterationInvariantRate);
}

void op_add(benchmark::State& state) {
  const std::int64_t n = state.range(0);
  time(
      state, [n](Device device) { return [x = zeros({n, n}, device), y = ones({n, n}, device)] { add(x, y); }; },
      n * n);
}
void op_matmul(benchmark::State& state) {
  const std::int64_t n = state.range(0);
  time(
      state, [n](Device device) { return [x = ones({n, n}, device), y = ones({n, n}, device)] { matmul(x, y); }; },
      2 * n * n * n);
}
void op_softmax(benchmark::State& state) {
  const std::int64_t n = state.range(0);
  time(state, [n](Device device) { return [x = zeros({n, n}, device)] { softmax(x, 1); }; }, 4 * n * n);
}
void op_conv2d(benchmark::State& state) {
  const std::int64_t side = state.range(0);
  constexpr std::int64_t kBatch = 8, kChannels = 32;
  time(
      state,
      [side](Device device) {
        return [x = zeros({kBatch, kChannels, side, side}, device), w = ones({kChannels, kChannels, 3, 3}, device)] {
          conv2d(x, w, {}, {1, 1}, {1, 1});
        };
      },
      2 * kBatch * kChannels * kChannels * 9 * side * side);
}

BENCHMARK(op_add)->Arg(64)->Arg(1024)->UseManualTime();
BENCHMARK(op_matmul)->Arg(64)->Arg(512)->UseManualTime();
BENCHMARK(op_softmax)->Arg(64)->Arg(1024)->UseManualTime();
BENCHMARK(op_conv2d)->Arg(16)->Arg(64)->UseManualTime();

}  // namespace
}  // namespace labrig
