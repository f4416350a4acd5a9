// Copies on the host, which are what a loader, a checkpoint and pageable memory are made of: contiguous, strided,
// converted. Copies to and from cards: `labrig bench copies`.
#include <benchmark/benchmark.h>

#include "labrig/tensor.hpp"

namespace labrig {
namespace {

constexpr std::int64_t kSide = 1024;

void copy(benchmark::State& state, const Tensor& to, const Tensor& from) {
  for (auto _ : state) to.copy_(from);
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(to.nbytes() + from.nbytes()));
}

void copy_contiguous(benchmark::State& state) { copy(state, empty({kSide, kSide}), zeros({kSide, kSide})); }
void copy_transposed(benchmark::State& state) { copy(state, empty({kSide, kSide}), zeros({kSide, kSide}).t()); }
void copy_row_to_all(benchmark::State& state) { copy(state, empty({kSide, kSide}), zeros({1, kSide})); }
void copy_f32_to_f16(benchmark::State& state) { copy(state, empty({kSide, kSide}, kF16), zeros({kSide, kSide})); }
void copy_u8_to_f32(benchmark::State& state) { copy(state, empty({kSide, kSide}), zeros({kSide, kSide}, kU8)); }

BENCHMARK(copy_contiguous);
BENCHMARK(copy_transposed);
BENCHMARK(copy_row_to_all);
BENCHMARK(copy_f32_to_f16);
BENCHMARK(copy_u8_to_f32);

}  // namespace
}  // namespace labrig
