// Public reports about pinned memory, non-blocking copies and streams (pytorch-facts.md §7.2), made again with small
// tensors: the wrong program shows the reported symptom every time, the mended one does not.
//
// Not here, because no program of this library can say it:
//   P3   compiled code reads a download early: there is no compiler that moves a read; the race itself is P1.
//   P9   CUDA in a forked worker: a submission does not fork, and loaders here are jobs of one process.
#include <gtest/gtest.h>

#include <bit>
#include <functional>
#include <vector>

#include "labrig/memory.hpp"
#include "labrig/ops.hpp"
#include "on_machine.hpp"

namespace labrig::sim {
namespace {

constexpr std::int64_t kElements = 1000;

Tensor pinned(const Dims& sizes, const std::string& name) {
  return empty(sizes, Options().pinned_memory()).set_name(name);
}

std::int64_t time_of(OnMachine& on, const std::function<void()>& work) {
  const std::int64_t start = on.now_ps();
  work();
  return on.now_ps() - start;
}

// pytorch#86264, sglang PR 16493: wrong values after a download that does not block.
TEST(PublicReports, P1_ReadsADownloadBeforeItIsDone) {
  for (const bool waits : {false, true}) {
    OnMachine on;
    const Tensor there = full({kElements}, 3, on.card).set_name("activations");
    const Tensor host = there.to(Device{}, true);
    if (waits) synchronize(on.card);
    EXPECT_EQ(all_are(host, 3), waits);
    EXPECT_EQ(on.hazards(), waits ? 0u : 1u);
  }
}

// pytorch#127612: the upload sees what the host writes after the call.
TEST(PublicReports, P2_RewritesAPinnedSourceInFlight) {
  for (const bool waits : {false, true}) {
    OnMachine on;
    const Tensor host = pinned({kElements}, "batch");
    host.fill_(1);
    const Tensor there = host.to(on.card, true);
    if (waits) current_stream(on.card).synchronize();
    host.fill_(2);
    EXPECT_EQ(all_are(there.cpu(), 1), waits);
    EXPECT_EQ(on.hazards(), waits ? 0u : 1u);
  }
}

// pytorch#130785: "a temporary pinned tensor is freed too early". It is not: a block of pinned memory is not handed out
// again before the copies that were queued when it was freed are done.
TEST(PublicReports, P4_ATemporaryPinnedTensorIsKeptUntilItsCopyIsDone) {
  OnMachine on;
  const Tensor source = full({kElements}, 5);
  const Tensor there = source.pin_memory().to(on.card, true);
  const Tensor next = pinned({kElements}, "next");
  next.fill_(6);
  EXPECT_TRUE(all_are(there.cpu(), 5));
  EXPECT_EQ(on.hazards(), 0u);
}

// pytorch#48065, #19625: non_blocking seems to be ignored, because the first call pays for memory.
TEST(PublicReports, P5_MeasuresTheFirstUseOfMemoryInsteadOfTheCopy) {
  OnMachine on;
  const Tensor there = empty({1 << 20}, on.card);
  synchronize(on.card);
  const auto download = [&] { there.to(Device{}, true); };
  const std::int64_t cold = time_of(on, download);
  synchronize(on.card);
  const std::int64_t warm = time_of(on, download);
  synchronize(on.card);
  const std::int64_t blocking = time_of(on, [&] { there.to(Device{}); });
  EXPECT_GT(cold, blocking) << "measured cold, the copy that does not block looks slower than the one that does";
  EXPECT_LT(warm, blocking / 10) << "measured warm, it returns at once";
}

// pytorch#95823, #150517, LMCache#1147, sglang PR 36562, vllm#56410: pinning a model's weights takes up to twice their
// bytes, because pinned blocks are powers of two.
TEST(PublicReports, P6_PinnedWeightsTakePowersOfTwo) {
  OnMachine on;
  constexpr std::int64_t kWeights = 7, kWeightElements = 1'100'000, kAsked = kWeights * kWeightElements * 4;
  constexpr auto kTaken = kWeights * static_cast<std::int64_t>(std::bit_ceil(std::uint64_t{kWeightElements} * 4));
  std::vector<Tensor> weights;
  for (int i = 0; i < kWeights; ++i) weights.push_back(pinned({kWeightElements}, "weight"));
  auto stats = host_memory_stats(on.card);
  EXPECT_EQ(stats["requested_bytes.current"], kAsked);
  EXPECT_EQ(stats["active_bytes.current"], kTaken);
  EXPECT_GT(kTaken, kAsked * 19 / 10);
  EXPECT_EQ(on.report().metrics.pinned_peak_bytes, static_cast<std::uint64_t>(kAsked));
  EXPECT_EQ(on.report().metrics.pinned_taken_peak_bytes, static_cast<std::uint64_t>(kTaken));
  // One block for all of them, each weight a part of it.
  weights.clear();
  empty_host_cache(on.card);
  const Tensor all = pinned({kWeights, kWeightElements}, "weights");
  stats = host_memory_stats(on.card);
  EXPECT_LT(stats["active_bytes.current"], kAsked * 11 / 10);
}

// allennlp#4670, PyTorch's tutorial on pinning: pinning each batch is a copy of its own, and a slow one.
TEST(PublicReports, P7_PinsEveryBatchAnew) {
  OnMachine on;
  const Tensor host = empty({1 << 20});
  const Tensor there = empty({1 << 20}, on.card);
  const Tensor staging = pinned({1 << 20}, "staging");
  const std::int64_t pageable = time_of(on, [&] { there.copy_(host); });
  const std::int64_t pin_first = time_of(on, [&] {
    there.copy_(host.pin_memory(), true);
    synchronize(on.card);
  });
  const std::int64_t pinned_once = time_of(on, [&] {
    there.copy_(staging, true);
    synchronize(on.card);
  });
  EXPECT_GT(pin_first, pageable);
  EXPECT_LT(pinned_once, pageable);
}

// darts#436, traintrain#20: the data set is on the card already, and its loader pins.
TEST(PublicReports, P8_PinsATensorOfTheCard) {
  OnMachine on;
  const Tensor there = full({4}, 1, on.card);
  try {
    there.pin_memory();
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_TRUE(contains(error.what(), "only dense CPU tensors can be pinned")) << error.what();
  }
  EXPECT_TRUE(there.cpu().pin_memory().is_pinned());
}

// torchrec PR 4231: a stashed tensor is freed while a copy in another stream still reads it.
TEST(PublicReports, P10_FreesAStashedTensorUnderACopyOfAnotherStream) {
  for (const bool records : {false, true}) {
    OnMachine on;
    const Stream side = new_stream(on.card);
    const Tensor kept = pinned({kElements}, "kept");
    {
      const Tensor stash = full({kElements}, 3, on.card).set_name("stash");
      synchronize(on.card);
      const StreamGuard guard(side);
      kept.copy_(stash, true);
      if (records) stash.record_stream(side);
    }
    const Tensor scratch = empty({kElements}, on.card).set_name("scratch");
    scratch.fill_(8);
    side.synchronize();
    EXPECT_EQ(all_are(kept, 3), records);
    const Report report = on.report();
    EXPECT_EQ(report.metrics.hazards, records ? 0u : 1u);
    if (records) continue;
    ASSERT_EQ(report.hazards.size(), 1u);
    EXPECT_TRUE(contains(report.hazards[0].text, "stash")) << report.hazards[0].text;
    EXPECT_TRUE(contains(report.hazards[0].text, "handed out again as 'scratch'")) << report.hazards[0].text;
    EXPECT_TRUE(contains(report.hazards[0].text, "record_stream")) << report.hazards[0].text;
  }
}

// ROCm/pytorch#3194: the consumer's stream did not wait for the producer's.
TEST(PublicReports, P11_AConsumerDoesNotWaitForItsProducer) {
  for (const bool waits : {false, true}) {
    OnMachine on;
    const Stream producer = new_stream(on.card), consumer = new_stream(on.card);
    const Tensor product = full({kElements}, 0, on.card).set_name("product");
    const Tensor sum = full({kElements}, 0, on.card).set_name("sum");
    synchronize(on.card);
    Event produced(on.card);
    {
      const StreamGuard guard(producer);
      product.fill_(4);
      produced.record(producer);
    }
    {
      const StreamGuard guard(consumer);
      if (waits) produced.wait(consumer);
      add_(sum, product);
    }
    synchronize(on.card);
    EXPECT_EQ(on.hazards(), waits ? 0u : 1u);
    EXPECT_EQ(all_are(sum.cpu(), 4), waits);
  }
}

// vllm PR 13632: a kernel went to a stream of the pool instead of the current one.
TEST(PublicReports, P12_LaunchesInAStreamOfThePoolInsteadOfTheCurrentOne) {
  for (const bool current : {false, true}) {
    OnMachine on;
    const Tensor scores = full({kElements}, 2, on.card).set_name("scores");
    const Stream used = current ? current_stream(on.card) : new_stream(on.card);
    {
      const StreamGuard guard(used);
      add_(scores, scores);
    }
    used.synchronize();
    EXPECT_EQ(on.hazards() == 0, current);
    EXPECT_EQ(all_are(scores.cpu(), 4), current);
  }
}

// deep-person-reid#281, pytorch#24318, mlx-benchmark PR 21: the kernel takes no time, reading its result takes seconds.
TEST(PublicReports, P13_TimesTheLaunchInsteadOfTheKernel) {
  OnMachine on("desktop", Mode::late, false);
  const Tensor a = empty({1024, 1024}, on.card), b = empty({1024, 1024}, on.card);
  matmul(a, b);
  synchronize(on.card);
  const std::int64_t launch = time_of(on, [&] { matmul(a, b); });
  const std::int64_t fetch = time_of(on, [&] { synchronize(on.card); });
  EXPECT_GT(fetch, 20 * launch);
  // Events around the kernel tell its own time.
  Event start(on.card), end(on.card);
  start.record(current_stream(on.card));
  matmul(a, b);
  end.record(current_stream(on.card));
  end.synchronize();
  const double kernel_ms = start.elapsed_ms(end);
  EXPECT_NEAR(kernel_ms, static_cast<double>(launch + fetch) / 1e9, kernel_ms / 10);
}

// pytorch#29966: the error comes up at a later line than the one that caused it. Waiting after each operation, as
// CUDA_LAUNCH_BLOCKING does, shows it where it is.
TEST(PublicReports, P14_AnErrorComesUpAtTheNextWait) {
  for (const bool blocking : {false, true}) {
    MachineOptions options = OnMachine::options("desktop", Mode::late, true, 1);
    options.limits.kernel_steps = 1000;
    InProcessMachine machine(options);
    const Device card("sim:0");
    const Tensor small = zeros({10}, card), large = empty({2000}, card);
    const auto after_each = [&] {
      if (blocking) synchronize(card);
    };
    int line = 0;
    try {
      line = 1;
      small.fill_(1);
      after_each();
      line = 2;
      large.fill_(1);  // more work than the card takes
      after_each();
      line = 3;
      small.fill_(2);
      after_each();
      line = 4;
      small.cpu();
      FAIL() << "no error";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), "over-limit");
      EXPECT_EQ(line, blocking ? 2 : 4);
    }
  }
}

// PIN-1, pytorch#137951: each result is fetched without blocking and appended to the ones before it. The first was
// reported right and the others wrong: that was luck, every reading before the wait is a race.
TEST(PublicReports, PIN1_AppendsDownloadsThatAreNotDone) {
  for (const bool waits : {false, true}) {
    OnMachine on;
    Tensor all;
    for (int j = 0; j < 3; ++j) {
      const Tensor d = full({10'000, 1'000}, 1.0957 + j, Options(kF16, on.card)).set_name("d" + std::to_string(j));
      Event fetched(on.card);
      const Tensor h = d.to(Device{}, true).set_name("h" + std::to_string(j));
      fetched.record(current_stream(on.card));
      if (waits) fetched.synchronize();
      const std::uint64_t before = on.hazards();
      const double smallest = -max(neg(h)).item();
      EXPECT_EQ(on.hazards() > before, !waits) << "j = " << j;
      if (waits) {
        EXPECT_NEAR(smallest, 1.0957 + j, 0.002) << "j = " << j;
      } else {
        EXPECT_FALSE(smallest > 1 && smallest < 4) << "j = " << j << ": " << smallest;
      }
      all = j == 0 ? h : cat({all, h});
    }
    synchronize(on.card);
    EXPECT_EQ(on.hazards() == 0, waits);
    if (waits) {
      EXPECT_NEAR(-max(neg(all)).item(), 1.0957, 0.002);
    }
  }
}

}  // namespace
}  // namespace labrig::sim
