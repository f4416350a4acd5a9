// The four classic ways to feed a card, in the public language of labrig: from pageable memory; from pinned memory in
// one stream; double-buffered in two streams with events; and the same with a wait forgotten. They rank as on a real
// card, and each race is named. Then a pipeline with a download stage, from which every single wait is taken out once.
//
//   pageable   host   ▐stage 0▌        ▐stage 1▌            pinned   copy     ▐0▌     ▐1▌     ▐2▌
//              copy    ▐ 0 ▌            ▐ 1 ▌                        compute     ▐ 0 ▌   ▐ 1 ▌
//              compute      ▐  0  ▌          ▐  1  ▌
//   double-buffered    copy     ▐0▌▐1▌   ▐2▌   ▐3▌
//                      compute     ▐ 0 ▌▐ 1 ▌▐ 2 ▌
#include <gtest/gtest.h>

#include <array>
#include <functional>

#include "labrig/ops.hpp"
#include "on_machine.hpp"

namespace labrig::sim {
namespace {

// --- four pipelines: 16 chunks of 64 MiB, each multiplied by the weights ---------------------------------------------

constexpr int kChunks = 16;

struct Feed {
  Device card;
  std::int64_t n;
  Tensor weights = empty({n, n}, card).set_name("weights");
};

void pageable(const Feed& feed) {
  const Tensor host = empty({feed.n, feed.n}).set_name("chunk");
  const Tensor chunk = empty({feed.n, feed.n}, feed.card).set_name("chunk");
  for (int i = 0; i < kChunks; ++i) {
    chunk.copy_(host);
    matmul(chunk, feed.weights);
  }
  synchronize(feed.card);
}

// A wait that is left out, in one round or in all of them.
struct LeftOut {
  enum class Wait : std::uint8_t { none, kernel_for_copy, copy_for_kernel, host_for_result } wait = Wait::none;
  int round = -1;  // -1: all

  bool has(Wait other, int in_round) const { return wait == other && (round < 0 || round == in_round); }
};
using Wait = LeftOut::Wait;

// The host fetches the first row of the last product, without blocking, and looks at it.
void look_at(const Tensor& product, Stream stream, const LeftOut& left_out) {
  const Tensor row = product.narrow(0, 0, 1).to(Device{}, true);
  if (!left_out.has(Wait::host_for_result, kChunks)) stream.synchronize();
  EXPECT_EQ(row.data<const float>().size(), static_cast<std::size_t>(product.size(1)));
}

void pinned_in_one_stream(const Feed& feed, const LeftOut& left_out) {
  const Tensor host = empty({feed.n, feed.n}, Options().pinned_memory()).set_name("chunk");
  const Tensor chunk = empty({feed.n, feed.n}, feed.card).set_name("chunk");
  Tensor product;
  for (int i = 0; i < kChunks; ++i) {
    chunk.copy_(host, true);
    product = matmul(chunk, feed.weights);
  }
  look_at(product, current_stream(feed.card), left_out);
}

void double_buffered(const Feed& feed, const LeftOut& left_out) {
  const Tensor host = empty({feed.n, feed.n}, Options().pinned_memory()).set_name("chunk");
  const Stream copies = new_stream(feed.card), kernels = new_stream(feed.card);
  struct Buffer {
    Tensor memory;
    Event filled, used;
  };
  std::array<Buffer, 2> buffers = {
      Buffer{empty({feed.n, feed.n}, feed.card).set_name("buffer 0"), Event(feed.card), Event(feed.card)},
      Buffer{empty({feed.n, feed.n}, feed.card).set_name("buffer 1"), Event(feed.card), Event(feed.card)}};
  Tensor product;
  for (int i = 0; i < kChunks; ++i) {
    Buffer& buffer = buffers[static_cast<std::size_t>(i % 2)];
    {
      const StreamGuard guard(copies);
      if (i >= 2 && !left_out.has(Wait::copy_for_kernel, i)) buffer.used.wait(copies);
      buffer.memory.copy_(host, true);
      buffer.filled.record(copies);
    }
    const StreamGuard guard(kernels);
    if (!left_out.has(Wait::kernel_for_copy, i)) buffer.filled.wait(kernels);
    product = matmul(buffer.memory, feed.weights);
    buffer.used.record(kernels);
  }
  const StreamGuard guard(kernels);
  look_at(product, kernels, left_out);
}

struct Timed {
  double ms = 0;
  Report report;
};

// Cost-only: nothing is multiplied, everything is ordered and timed. The allocator and the pinned memory are warm.
Timed timed(const std::string& profile, const std::function<void(const Feed&)>& pipeline, std::int64_t n = 4096) {
  OnMachine on(profile, Mode::late, false);
  const Feed feed{on.card, n};
  pipeline(feed);
  synchronize(on.card);
  begin_region();
  pipeline(feed);
  finish_region();
  Timed result;
  result.report = on.report();
  result.ms = static_cast<double>(result.report.metrics.time_ps) / 1e9;
  return result;
}

void serial(const Feed& feed) { pinned_in_one_stream(feed, {}); }
void overlapped(const Feed& feed) { double_buffered(feed, {}); }
void forget_the_copy(const Feed& feed) { double_buffered(feed, {Wait::kernel_for_copy}); }
void forget_the_kernel(const Feed& feed) { double_buffered(feed, {Wait::copy_for_kernel}); }

class FourPipelines : public testing::TestWithParam<const char*> {};

TEST_P(FourPipelines, RankAsOnARealCard) {
  const Timed slow = timed(GetParam(), pageable), in_turn = timed(GetParam(), serial),
              both = timed(GetParam(), overlapped), racy = timed(GetParam(), forget_the_copy);
  EXPECT_GT(slow.ms, in_turn.ms);
  EXPECT_GT(in_turn.ms, both.ms);
  EXPECT_GT(both.ms, racy.ms) << "a race is faster than the right order: that is why it is tempting";
  EXPECT_EQ(slow.report.metrics.hazards, 0u);
  EXPECT_EQ(in_turn.report.metrics.hazards, 0u);
  EXPECT_EQ(both.report.metrics.hazards, 0u);
  EXPECT_GT(racy.report.metrics.hazards, 0u);
}

INSTANTIATE_TEST_SUITE_P(Profiles, FourPipelines, testing::Values("desktop", "h200"));

// Field notes, one H200: 178 / 63 / 44.6 ms.
TEST(FourPipelines, TakeTheTimesOfAnH200) {
  EXPECT_NEAR(timed("h200", pageable).ms, 178, 178 * 0.2);
  EXPECT_NEAR(timed("h200", serial).ms, 63, 63 * 0.1);
  EXPECT_NEAR(timed("h200", overlapped).ms, 44.6, 44.6 * 0.1);
}

TEST(FourPipelines, HaveAHazardWithoutAnyOneOfTheirWaits) {
  const auto hazards = [](auto pipeline, LeftOut left_out) {
    return timed("desktop", [&](const Feed& feed) { pipeline(feed, left_out); }, 64).report.metrics.hazards;
  };
  EXPECT_EQ(hazards(pinned_in_one_stream, {Wait::host_for_result, kChunks}), 1u);
  EXPECT_EQ(hazards(double_buffered, {Wait::host_for_result, kChunks}), 1u);
  for (int round = 0; round < kChunks; ++round) {
    EXPECT_GT(hazards(double_buffered, {Wait::kernel_for_copy, round}), 0u) << "round " << round;
    if (round < 2) continue;  // nothing to wait for yet
    EXPECT_GT(hazards(double_buffered, {Wait::copy_for_kernel, round}), 0u) << "round " << round;
  }
}

TEST(FourPipelines, TheRacyOneNamesBothOperationsAndTheMissingWait) {
  const Report report = timed("desktop", forget_the_copy, 64).report;
  ASSERT_EQ(report.hazards.size(), 2u) << "one a buffer";
  // Each of the eight products in a buffer reads what no earlier upload into it is known to have finished.
  EXPECT_EQ(report.metrics.hazards, 2u * (1 + 2 + 3 + 4 + 5 + 6 + 7 + 8));
  for (int b = 0; b < 2; ++b) {
    const Hazard& hazard = report.hazards[static_cast<std::size_t>(b)];
    const std::string buffer = "buffer " + std::to_string(b);
    EXPECT_EQ(hazard.kind, Hazard::Kind::read_after_write);
    EXPECT_EQ(hazard.count, 36u);
    EXPECT_EQ(hazard.buffer, buffer);
    EXPECT_EQ(hazard.offset, 0u);
    EXPECT_EQ(hazard.bytes, 64u * 64 * 4);
    EXPECT_EQ(hazard.later.stream, hazard.earlier.stream + 1) << "the copies' stream was made first";
    EXPECT_EQ(without_numbers(hazard.text),
              "hazard: kernel 'matmul(" + buffer + ", weights)' on stream  reads '" + buffer +
                  "' without waiting for copy 'upload chunk to " + buffer +
                  "' on stream  (36 times)\n"
                  "  why: nothing orders operation  after operation  (bytes 0 to 16383 of '" +
                  buffer +
                  "'); on a card the kernel may see old bytes, or half of the new ones\n"
                  "  fix: record an event on stream  after the copy and let stream  wait for it before the kernel");
  }
}

TEST(FourPipelines, ABufferThatIsFilledTooEarlyIsNamedToo) {
  const Report report = timed("desktop", forget_the_kernel, 64).report;
  ASSERT_EQ(report.hazards.size(), 2u) << "one a buffer";
  const Hazard& hazard = report.hazards[0];
  EXPECT_EQ(hazard.kind, Hazard::Kind::write_after_read);
  EXPECT_EQ(without_numbers(hazard.text),
            "hazard: copy 'upload chunk to buffer 0' on stream  writes 'buffer 0' without waiting for kernel "
            "'matmul(buffer 0, weights)' on stream , which reads it (28 times)\n"
            "  why: nothing orders operation  after operation  (bytes 0 to 16383 of 'buffer 0'); on a card the kernel "
            "may see the new bytes, or half of them\n"
            "  fix: record an event on stream  after the kernel and let stream  wait for it before the copy");
}

// --- three stages: upload, compute, download; host memory, card memory and results are double-buffered ---------------

// Every place where something waits, numbered in the order in which they are met; one of them may be left out.
class Waits {
 public:
  static constexpr int kNone = -1;
  explicit Waits(int left_out) : left_out_(left_out) {}
  bool next() { return count_++ != left_out_; }
  int count() const { return count_; }

 private:
  int left_out_, count_ = 0;
};

struct Stage {
  explicit Stage(Device card) : stream(new_stream(card)), done{Event(card), Event(card)} {}
  Stream stream;
  std::array<Event, 2> done;
};

constexpr int kRounds = 6;
constexpr std::int64_t kElements = 300;

// The first element of each result, in order: round i is i + 1, doubled.
std::vector<float> three_stages(Device card, Waits& waits) {
  Stage up(card), compute(card), down(card);
  std::array<Tensor, 2> in, x, y, out;
  for (std::size_t b = 0; b < 2; ++b) {
    const std::string number = " " + std::to_string(b);
    in[b] = empty({kElements}, Options().pinned_memory()).set_name("input" + number);
    out[b] = empty({kElements}, Options().pinned_memory()).set_name("output" + number);
    x[b] = empty({kElements}, card).set_name("x" + number);
    y[b] = empty({kElements}, card).set_name("y" + number);
  }
  std::vector<float> results;
  const auto read_result = [&](std::size_t b) {
    if (waits.next()) down.done[b].synchronize();
    results.push_back(out[b].data<const float>()[kElements - 1]);
  };
  for (int i = 0; i < kRounds; ++i) {
    const auto b = static_cast<std::size_t>(i % 2);
    const bool again = i >= 2;  // the buffers have been used before
    if (again && waits.next()) up.done[b].synchronize();
    in[b].fill_(i + 1);
    {
      const StreamGuard guard(up.stream);
      if (again && waits.next()) compute.done[b].wait(up.stream);
      x[b].copy_(in[b], true);
      up.done[b].record(up.stream);
    }
    {
      const StreamGuard guard(compute.stream);
      if (waits.next()) up.done[b].wait(compute.stream);
      if (again && waits.next()) down.done[b].wait(compute.stream);
      y[b].copy_(x[b]);
      add_(y[b], x[b]);
      compute.done[b].record(compute.stream);
    }
    if (again) read_result(b);
    const StreamGuard guard(down.stream);
    if (waits.next()) compute.done[b].wait(down.stream);
    out[b].copy_(y[b], true);
    down.done[b].record(down.stream);
  }
  read_result(0);
  read_result(1);
  synchronize(card);
  return results;
}

TEST(ThreeStages, AreRightAndFreeOfHazards) {
  for (const Mode mode : {Mode::late, Mode::eager}) {
    OnMachine on("desktop", mode);
    Waits all(Waits::kNone);
    EXPECT_EQ(three_stages(on.card, all), (std::vector<float>{2, 4, 6, 8, 10, 12}));
    EXPECT_EQ(on.hazards(), 0u);
    EXPECT_EQ(all.count(), 3 * kRounds + 3 * (kRounds - 2));
  }
}

TEST(ThreeStages, WithoutAnyOneOfTheirWaitsHaveAHazard) {
  int waits_there_are = 1;
  for (int left_out = 0; left_out < waits_there_are; ++left_out) {
    OnMachine on;
    Waits waits(left_out);
    three_stages(on.card, waits);
    waits_there_are = waits.count();
    const Report report = on.report();
    EXPECT_GT(report.metrics.hazards, 0u) << "wait " << left_out;
    ASSERT_FALSE(report.hazards.empty()) << "wait " << left_out;
  }
}

}  // namespace
}  // namespace labrig::sim
