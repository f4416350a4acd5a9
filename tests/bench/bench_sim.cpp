// What the simulated card costs in real time: a command, a round trip, a hazard check, a small upload, starting a card.
// Not graded, not part of any test; `make bench` prints it.
#include <benchmark/benchmark.h>
#include <fcntl.h>
#include <unistd.h>

#include "backends/sim/machine.hpp"
#include "device/backend.hpp"
#include "labrig/ops.hpp"
#include "labrig/stream.hpp"

namespace labrig::sim {
namespace {

MachineOptions options(Mode mode = Mode::eager) {
  MachineOptions made;
  made.cards = {load_profile("desktop").value()};
  made.mode = mode;
  return made;
}

// The card as a process, with this program as its client.
class OtherProcess {
 public:
  OtherProcess() : card_(LABRIG_DEVICE_PROGRAM, options()) {
    Handles handles = card_.handles();
    for (int* fd : {&handles.device_page_fd, &handles.worker_page_fd, &handles.arena_fd}) {
      *fd = fcntl(*fd, F_DUPFD_CLOEXEC, 3);  // `attach` closes them
    }
    attach(handles);
  }
  ~OtherProcess() { detach_sim_backends(); }

 private:
  CardProcess card_;
};

// The caller's half of a one-way command: writing its record into the ring. The card is far behind the whole time.
void one_way_command(benchmark::State& state) {
  InProcessMachine machine(options());
  Backend& card = backend_of(Device("sim:0"));
  for (auto _ : state) card.host_work({});
  synchronize(Device("sim"));
}
BENCHMARK(one_way_command)->UseRealTime();

// One operator, from the call to the end of its work on the card.
void add_in_place(benchmark::State& state, Mode mode) {
  InProcessMachine machine(options(mode));
  const Tensor x = full({64}, 1, Device("sim"));
  for (auto _ : state) add_(x, x);
  synchronize(Device("sim"));
}
BENCHMARK_CAPTURE(add_in_place, eager, Mode::eager)->UseRealTime();
BENCHMARK_CAPTURE(add_in_place, late, Mode::late)->UseRealTime();

// Launches in two streams that touch the same bytes, in order or not: their difference is what finding a hazard costs.
void launches_of_two_streams(benchmark::State& state, bool ordered) {
  InProcessMachine machine(options());
  const Device card("sim");
  const Tensor x = full({64}, 1, card), a = empty({64}, card), b = empty({64}, card);
  const Stream side = new_stream(card);
  synchronize(card);
  for (auto _ : state) {
    a.copy_(x);
    const StreamGuard guard(side);
    (ordered ? b : a).copy_(x);
  }
  synchronize(card);
  state.SetItemsProcessed(state.iterations() * 2);
}
BENCHMARK_CAPTURE(launches_of_two_streams, in_order, true)->UseRealTime();
BENCHMARK_CAPTURE(launches_of_two_streams, with_a_hazard, false)->UseRealTime();

void sync_round_trip(benchmark::State& state) {
  InProcessMachine machine(options());
  const Stream stream = current_stream(Device("sim"));
  for (auto _ : state) stream.synchronize();
}
BENCHMARK(sync_round_trip)->UseRealTime();

// Sleeping or spinning, as LABRIG_SIM_SPIN says (tools/bench.sh runs it both ways).
void sync_round_trip_across_processes(benchmark::State& state) {
  const OtherProcess card;
  const Stream stream = current_stream(Device("sim"));
  for (auto _ : state) stream.synchronize();
}
BENCHMARK(sync_round_trip_across_processes)->UseRealTime();

// A tensor on the card, from the cache and back; compare with BM_Malloc and BM_HostTensor.
void card_tensor(benchmark::State& state) {
  InProcessMachine machine(options());
  for (auto _ : state) benchmark::DoNotOptimize(empty({state.range(0)}, Options(kU8, Device("sim"))).data_ptr());
  synchronize(Device("sim"));
}
BENCHMARK(card_tensor)->Arg(512)->Arg(4 << 20)->UseRealTime();

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
