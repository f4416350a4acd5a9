// What a pair of allocation and release costs: the caching allocator (its blocks are found in the cache after the first
// round) beside the host's malloc, and a whole tensor on the host beside both.
#include <benchmark/benchmark.h>

#include <chrono>
#include <cstdlib>
#include <ctime>
#include <vector>

#include "backends/sim/machine.hpp"
#include "device/registry.hpp"
#include "labrig/tensor.hpp"
#include "memory/caching_allocator.hpp"

namespace labrig {
namespace {

// A driver that is never asked twice for the same memory.
class HeapDriver : public DriverMemory {
 public:
  void* malloc(std::size_t bytes) override { return std::aligned_alloc(512, bytes); }
  void free(void* memory) override { std::free(memory); }
  MemoryInfo memory_info() override { return {}; }
  Event record_event(std::uint16_t) override { return 0; }
  bool event_is_done(Event) override { return true; }
  void wait_for_event(Event) override {}
  void release_event(Event) override {}
};

void BM_CachingAllocator(benchmark::State& state) {
  HeapDriver driver;
  CachingAllocator allocator(driver, "sim:0", 0);
  const auto bytes = static_cast<std::size_t>(state.range(0));
  for (auto _ : state) {
    Block* block = allocator.allocate(bytes, 0);
    benchmark::DoNotOptimize(block->address);
    allocator.free(block);
  }
  allocator.empty_cache();
}

void BM_Malloc(benchmark::State& state) {
  const auto bytes = static_cast<std::size_t>(state.range(0));
  for (auto _ : state) {
    void* memory = std::malloc(bytes);
    benchmark::DoNotOptimize(memory);
    std::free(memory);
  }
}

void BM_HostTensor(benchmark::State& state) {
  for (auto _ : state) benchmark::DoNotOptimize(empty({state.range(0)}, kU8).data_ptr());
}

// Sizes of a training step: many live at once, released in another order.
void BM_CachingAllocatorWorkingSet(benchmark::State& state) {
  HeapDriver driver;
  CachingAllocator allocator(driver, "sim:0", 0);
  std::vector<Block*> blocks(64);
  for (auto _ : state) {
    for (std::size_t i = 0; i < blocks.size(); ++i) blocks[i] = allocator.allocate(512 * (1 + i * i % 97), 0);
    for (std::size_t i = 0; i < blocks.size(); ++i) allocator.free(blocks[i * 37 % blocks.size()]);
  }
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(blocks.size()));
  allocator.empty_cache();
}

double thread_cpu_seconds() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

// A pair on a simulated card as a tensor causes it: with the two announcements to the card. `burst` is what the program
// pays while the ring has room; `sustained` goes on until the ring is full, and then waits for the card to read notes.
void BM_SimBlock(benchmark::State& state) {
  sim::MachineOptions options;
  options.cards = {sim::load_profile("desktop").value()};
  sim::InProcessMachine machine(options);
  const auto slot = slot_of("sim:0");
  const bool burst = state.range(0) != 0;
  const int pairs = burst ? 4000 : 100000;
  slot->release(slot->allocate(4096, 0, "block"));
  double cpu_s = 0;  // of this thread alone: the card works on another one
  for (auto _ : state) {
    slot->backend().synchronize_device(trace::Cause::asked);
    const double cpu_before = thread_cpu_seconds();
    const auto begin = std::chrono::steady_clock::now();
    for (int i = 0; i < pairs; ++i) slot->release(slot->allocate(4096, 0, "block"));
    const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - begin;
    cpu_s += thread_cpu_seconds() - cpu_before;
    state.SetIterationTime(taken.count());
  }
  const auto all_pairs = static_cast<double>(state.iterations()) * pairs;
  state.counters["pair_cpu_ns"] = cpu_s * 1e9 / all_pairs;
  state.counters["pair"] =
      benchmark::Counter(pairs, benchmark::Counter::kIsIterationInvariantRate | benchmark::Counter::kInvert);
  state.SetLabel(burst ? "burst" : "sustained");
}

BENCHMARK(BM_SimBlock)->Arg(1)->Arg(0)->UseManualTime();
BENCHMARK(BM_CachingAllocator)->Arg(512)->Arg(1 << 16)->Arg(4 << 20);
BENCHMARK(BM_Malloc)->Arg(512)->Arg(1 << 16)->Arg(4 << 20);
BENCHMARK(BM_HostTensor)->Arg(512)->Arg(1 << 16);
BENCHMARK(BM_CachingAllocatorWorkingSet);

}  // namespace
}  // namespace labrig

BENCHMARK_MAIN();
