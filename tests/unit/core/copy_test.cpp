// What a copy costs: which bytes cross the bus, what is converted where, what waits, and what is copied without being
// asked for.
#include <gtest/gtest.h>

#include <vector>

#include "expect_error.hpp"
#include "fake_card.hpp"
#include "labrig/stream.hpp"
#include "labrig/tensor.hpp"

namespace labrig {
namespace {

using test::AttachedCard;
using test::error_of;
using test::expect_error;
using trace::Cause;

const Device kCard("sim:0");

std::vector<float> values(const Tensor& tensor) {
  const Tensor host = tensor.cpu().to(kF32).contiguous();
  const auto data = host.data<float>();
  return {data.begin(), data.end()};
}

TEST(Copy, MovesAContiguousTensorInOneBlockingTransfer) {
  AttachedCard card;
  Tensor x = arange(6, kF32);
  x.set_name("features");
  const Tensor there = x.to("sim");
  EXPECT_EQ(there.device(), kCard);
  ASSERT_EQ(card->copies.size(), 1u);
  EXPECT_EQ(card->copies[0].direction, CopyDirection::up);
  EXPECT_EQ(card->copies[0].bytes, 24u);
  EXPECT_EQ(card->copies[0].name, "features");
  EXPECT_FALSE(card->copies[0].pinned);
  EXPECT_FALSE(card->copies[0].non_blocking);
  EXPECT_TRUE(card->launches.empty());
  EXPECT_EQ(values(there), (std::vector<float>{0, 1, 2, 3, 4, 5}));
  EXPECT_EQ(card->copies[1].direction, CopyDirection::down);
}

TEST(Copy, SaysThatTheHostMemoryIsPinnedAlsoForViews) {
  AttachedCard card;
  const Tensor x = arange(6, kF32).pin_memory();
  x.narrow(0, 2, 3).to(kCard, true);
  ASSERT_EQ(card->copies.size(), 1u);
  EXPECT_TRUE(card->copies[0].pinned);
  EXPECT_TRUE(card->copies[0].non_blocking);
  EXPECT_EQ(card->copies[0].bytes, 12u);
}

TEST(Copy, LandsInPinnedMemoryWhenADownloadDoesNotWait) {
  AttachedCard card;
  const Tensor x = zeros({6}, kCard);
  EXPECT_TRUE(x.to("cpu", true).is_pinned());
  EXPECT_FALSE(x.to("cpu").is_pinned());
}

TEST(Copy, UsesTheCurrentStream) {
  AttachedCard card;
  const StreamGuard guard(new_stream(kCard));
  zeros({4}).to(kCard);
  EXPECT_EQ(card->copies[0].stream, current_stream(kCard).id());
}

TEST(Copy, ConvertsOnTheHostWhenItBlocks) {
  AttachedCard card;
  const Tensor up = arange(8, kI64).to(kCard, kF32);
  EXPECT_EQ(card->copies[0].bytes, 32u);
  EXPECT_TRUE(card->launches.empty());
  const Tensor down = up.to("cpu", kF64);
  EXPECT_EQ(card->copies[1].bytes, 32u);
  EXPECT_TRUE(card->launches.empty());
  EXPECT_EQ(values(down), (std::vector<float>{0, 1, 2, 3, 4, 5, 6, 7}));
}

TEST(Copy, ConvertsOnTheCardWhenItDoesNotBlock) {
  AttachedCard card;
  const Tensor up = arange(8, kI64).pin_memory().to(kCard, kF32, true);
  EXPECT_EQ(card->copies[0].bytes, 64u);
  ASSERT_EQ(card->launches.size(), 1u);
  EXPECT_FALSE(card->launches[0].hidden);
  const Tensor down = up.to("cpu", kF16, true);
  EXPECT_EQ(card->copies[1].bytes, 16u);
  EXPECT_EQ(card->launches.size(), 2u);
  EXPECT_EQ(values(down), (std::vector<float>{0, 1, 2, 3, 4, 5, 6, 7}));
}

TEST(Copy, MarksTheTemporaryOfANonContiguousDownloadAsHidden) {
  AttachedCard card;
  const Tensor x = arange(6, {kF32, kCard}).view({2, 3}).t();
  card->launches.clear();
  EXPECT_EQ(values(x), (std::vector<float>{0, 3, 1, 4, 2, 5}));
  ASSERT_EQ(card->launches.size(), 1u);
  EXPECT_EQ(card->launches[0].kernel, Kernel::copy);
  EXPECT_TRUE(card->launches[0].hidden);
}

TEST(Copy, PacksANonContiguousUploadOnTheHost) {
  AttachedCard card;
  const Tensor x = arange(6, kF32).view({2, 3}).t();
  trace::Recorder recorder;
  const Tensor there = x.to(kCard);
  EXPECT_TRUE(card->launches.empty());
  EXPECT_TRUE(there.is_contiguous());
  EXPECT_EQ(card->copies[0].bytes, 24u);
  bool hidden = false;
  for (const trace::Event& event : recorder.events()) {
    hidden |= event.kind == trace::Kind::host_copy && event.cause == Cause::hidden;
  }
  EXPECT_TRUE(hidden);
  EXPECT_EQ(values(there), (std::vector<float>{0, 3, 1, 4, 2, 5}));
}

TEST(Copy, UnpacksIntoANonContiguousDestination) {
  AttachedCard card;
  const Tensor grid = zeros({3, 2}, kCard);
  grid.select(1, 1).copy_(tensor<float>({1, 2, 3}));
  EXPECT_EQ(values(grid), (std::vector<float>{0, 1, 0, 2, 0, 3}));
  EXPECT_TRUE(card->launches.back().hidden);
  const Tensor host = zeros({3, 2});
  host.t().copy_(arange(6, {kF32, kCard}).view({2, 3}));
  EXPECT_EQ(values(host), (std::vector<float>{0, 3, 1, 4, 2, 5}));
}

TEST(Copy, BroadcastsItsSourceAndRefusesWhatDoesNotFit) {
  const Tensor x = zeros({2, 3});
  x.copy_(tensor<float>({1, 2, 3}));
  EXPECT_EQ(values(x), (std::vector<float>{1, 2, 3, 1, 2, 3}));
  expect_error("shape-mismatch",
               "The size of tensor a (4) must match the size of tensor b (5) at non-singleton dimension 1",
               [] { zeros({4, 4}).copy_(zeros({4, 5})); });
  expect_error("shape-mismatch", "output with shape [3] doesn't match the broadcast shape [2, 3]",
               [&] { zeros({3}).copy_(x); });
}

TEST(Copy, StaysOnTheCardForACloneThere) {
  AttachedCard card;
  const Tensor x = arange(6, {kF32, kCard});
  card->launches.clear();
  const Tensor copy = x.clone();
  ASSERT_EQ(card->copies.size(), 1u);
  EXPECT_EQ(card->copies[0].direction, CopyDirection::within);
  EXPECT_TRUE(card->copies[0].non_blocking);
  EXPECT_TRUE(card->launches.empty());
  EXPECT_NE(copy.data_ptr(), x.data_ptr());
}

TEST(Copy, GoesDirectlyBetweenTwoCardsOrderedWithBothStreams) {
  AttachedCard cards(2);
  const Tensor x = arange(3, {kF32, kCard});
  set_current_stream(Stream("sim:1", 5));
  set_current_stream(Stream("sim:0", 4));
  const Tensor there = x.to("sim:1");
  EXPECT_EQ(there.device(), Device("sim:1"));
  ASSERT_EQ(cards->copies.size(), 1u);
  EXPECT_EQ(cards->copies[0].direction, CopyDirection::peer);
  EXPECT_EQ(cards->copies[0].bytes, 12u);
  EXPECT_EQ(cards->order,
            (std::vector<std::string>{"sim:1 record 1 in 5", "sim:0 wait for 1 of sim:1 in 4", "sim:0 copy in 4",
                                      "sim:0 record 1 in 4", "sim:1 wait for 1 of sim:0 in 5"}));
  EXPECT_EQ(cards->events, 0u);
  EXPECT_TRUE(cards->syncs.empty());
  EXPECT_EQ(values(there), (std::vector<float>{0, 1, 2}));
}

TEST(Copy, PacksAndConvertsAtTheSourceBetweenTwoCards) {
  AttachedCard cards(2);
  const Tensor x = arange(6, {kI32, kCard}).view({2, 3}).t();
  const Tensor target = zeros({2, 3}, Device("sim:1"));
  target.t().copy_(x);
  ASSERT_EQ(cards->copies.size(), 1u);
  EXPECT_EQ(cards->copies[0].bytes, 24u);
  EXPECT_EQ(values(target), (std::vector<float>{0, 1, 2, 3, 4, 5}));
}

TEST(Copy, FetchesAValueInOneCopyWithThatCause) {
  AttachedCard card;
  const Tensor x = arange(3, {kF32, kCard});
  EXPECT_EQ(x[2].item(), 2);
  ASSERT_EQ(card->copies.size(), 1u);
  EXPECT_EQ(card->copies[0].cause, Cause::value);
  EXPECT_EQ(card->copies[0].bytes, 4u);
  EXPECT_EQ(x.str(), "f32[3] on sim:0 = [0, 1, 2]");
  EXPECT_EQ(card->copies[1].cause, Cause::value);
}

TEST(Copy, MovesNothingForAnEmptyTensor) {
  AttachedCard card;
  const Tensor x = zeros({0, 4}, kCard);
  EXPECT_EQ(x.cpu().sizes(), Dims({0, 4}));
  EXPECT_TRUE(card->copies.empty());
  EXPECT_TRUE(card->launches.empty());
}

TEST(Copy, ReportsHostArithmeticToTheClockOfTheCard) {
  AttachedCard card;
  const Tensor x = ones({100});
  x.fill_(2);
  ASSERT_EQ(card->host_work.size(), 2u);
  EXPECT_EQ(card->host_work[1].bytes, 400u);
}

TEST(Trace, ListsWhatHappenedWithItsCause) {
  AttachedCard card;
  Tensor x = ones({4});
  x.set_name("x");
  trace::Recorder recorder;
  const Tensor there = x.to(kCard);
  there.fill_(2);
  there[0].item();
  const auto events = recorder.events();
  std::vector<trace::Kind> kinds;
  for (const trace::Event& event : events) kinds.push_back(event.kind);
  using trace::Kind;
  EXPECT_EQ(kinds,
            (std::vector<Kind>{Kind::allocate, Kind::upload, Kind::sync, Kind::launch, Kind::download, Kind::sync}));
  EXPECT_EQ(events[1].bytes, 16u);
  EXPECT_EQ(events[1].name, "x");
  EXPECT_EQ(events[2].cause, Cause::copy);
  EXPECT_EQ(events[3].name, "fill");
  EXPECT_EQ(events[4].cause, Cause::value);
  EXPECT_EQ(events[5].cause, Cause::value);
  EXPECT_GE(events[5].time_ns, events[0].time_ns);
}

TEST(Trace, CountsWhatItDoesNotKeep) {
  trace::Recorder recorder(2);
  for (int i = 0; i < 5; ++i) zeros({2});
  EXPECT_EQ(recorder.count(), 5u);
  EXPECT_EQ(recorder.events().size(), 2u);
}

TEST(Trace, GoesToTheNewestRecorder) {
  trace::Recorder outer;
  {
    trace::Recorder inner;
    zeros({2});
    EXPECT_EQ(inner.count(), 1u);
  }
  EXPECT_EQ(outer.count(), 0u);
  zeros({2});
  EXPECT_EQ(outer.count(), 1u);
}

}  // namespace
}  // namespace labrig
