// What the simulated card costs in real time: a command, a round trip, a small upload, starting a card. Not graded, not
// part of any test; `make bench` prints it.
#include <benchmark/benchmark.h>

#include "backends/sim/machine.hpp"
#include "labrig/ops.hpp"
#include "labrig/stream.hpp"

namespace labrig::sim {
namespace {

MachineOptions options() {
  MachineOptions made;
  made.cards = {load_profile("desktop").value()};
  return made;
}

void add_in_place(benchmark::State& state) {
  InProcessMachine machine(options());
  const Tensor x = full({64}, 1, Device("sim"));
  for (auto _ : state) add_(x, x);
  synchronize(Device("sim"));
}
BENCHMARK(add_in_place)->UseRealTime();

void sync_round_trip(benchmark::State& state) {
  InProcessMachine machine(options());
  const Stream stream = current_stream(Device("sim"));
  for (auto _ : state) stream.synchronize();
}
BENCHMARK(sync_round_trip)->UseRealTime();

void small_upload(benchmark::State& state) {
  InProcessMachine machine(options());
  const Tensor host = full({256}, 1), there = empty({256}, Device("sim"));
  for (auto _ : state) there.copy_(host);
  synchronize(Device("sim"));
}
BENCHMARK(small_upload)->UseRealTime();

void item(benchmark::State& state) {
  InProcessMachine machine(options());
  const Tensor there = full({1}, 1, Device("sim"));
  for (auto _ : state) benchmark::DoNotOptimize(there.item());
}
BENCHMARK(item)->UseRealTime();

void matmul_256(benchmark::State& state) {
  InProcessMachine machine(options());
  const Tensor x = full({256, 256}, 1, Device("sim"));
  for (auto _ : state) {
    matmul(x, x);
    synchronize(Device("sim"));
  }
  state.counters["flop/s"] = benchmark::Counter(2.0 * 256 * 256 * 256, benchmark::Counter::kIsIterationInvariantRate);
}
BENCHMARK(matmul_256)->UseRealTime();

void start_card_process(benchmark::State& state) {
  const MachineOptions made = options();
  for (auto _ : state) CardProcess card(LABRIG_DEVICE_PROGRAM, made);
}
BENCHMARK(start_card_process)->Unit(benchmark::kMillisecond)->UseRealTime();

}  // namespace
}  // namespace labrig::sim
