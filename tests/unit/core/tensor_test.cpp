// The tensor handle: creation, views that share, host access, values, and lifetime on the host and on a card.
#include "labrig/tensor.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "expect_error.hpp"
#include "fake_card.hpp"
#include "labrig/memory.hpp"
#include "labrig/ops.hpp"
#include "labrig/stream.hpp"

// Under a sanitizer: a request that is too large fails, as it does without one, instead of ending the program.
extern "C" __attribute__((visibility("default"))) const char* __asan_default_options() {
  return "allocator_may_return_null=1";
}
extern "C" __attribute__((visibility("default"))) const char* __tsan_default_options() {
  return "allocator_may_return_null=1";
}

namespace labrig {
namespace {

using test::AttachedCard;
using test::error_of;
using test::expect_error;

template <class T>
std::vector<T> values(const Tensor& tensor) {
  const auto data = tensor.contiguous().data<T>();
  return {data.begin(), data.end()};
}

TEST(Tensor, IsMadeWithTheValuesAndTypeThatAreAskedFor) {
  EXPECT_EQ(values<float>(full({2, 2}, 1.5)), (std::vector<float>{1.5F, 1.5F, 1.5F, 1.5F}));
  EXPECT_EQ(values<std::int64_t>(arange(4)), (std::vector<std::int64_t>{0, 1, 2, 3}));
  EXPECT_EQ(values<std::int32_t>(ones({3}, kI32)), (std::vector<std::int32_t>{1, 1, 1}));
  EXPECT_EQ(arange(3, kF16).dtype(), kF16);
  EXPECT_EQ(values<float>(tensor<float>({1, 2, 3})), (std::vector<float>{1, 2, 3}));
  EXPECT_EQ(empty({0, 3}).numel(), 0);
  EXPECT_EQ(full({}, 7).item(), 7);
}

TEST(Tensor, StartsOnACacheLine) {
  for (const std::int64_t size : {1, 3, 1000}) {
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(empty({size}).data_ptr()) % 64, 0u);
  }
}

TEST(Tensor, RefusesShapesThatCannotBe) {
  expect_error("invalid-shape", "Trying to create tensor with negative dimension -1: [-1]", [] { empty({-1}); });
  expect_error("invalid-shape", "Storage size calculation overflowed with sizes=[4611686018427387904, 4]",
               [] { empty({std::int64_t{1} << 62, 4}); });
  expect_error("invalid-shape", "shape '[2, 2]' is invalid for input of size 3",
               [] { tensor<float>(std::vector<float>{1, 2, 3}, {2, 2}); });
  EXPECT_EQ(error_of([] { empty({std::int64_t{1} << 50}); }).code(), "out-of-host-memory");
}

TEST(Tensor, ThrowsWhenItIsUndefined) {
  const Tensor undefined;
  EXPECT_FALSE(undefined.defined());
  expect_error("undefined-tensor", "the tensor is undefined", [&] { undefined.sizes(); });
  expect_error("undefined-tensor", "the tensor is undefined", [&] { add(undefined, undefined); });
  EXPECT_EQ(undefined.str(), "undefined tensor");
}

TEST(Tensor, SharesItsStorageWithItsViews) {
  const Tensor x = zeros({2, 3});
  x[1].fill_(5);
  x.t().select(0, 2).copy_(tensor<float>({8, 9}));
  EXPECT_EQ(values<float>(x), (std::vector<float>{0, 0, 8, 5, 5, 9}));
  EXPECT_EQ(x.view({6}).data_ptr(), x.data_ptr());
}

TEST(Tensor, ReshapesWithoutACopyWhereTheStridesAllowIt) {
  const Tensor x = arange(6).view({2, 3});
  EXPECT_EQ(x.reshape({3, 2}).data_ptr(), x.data_ptr());
  const Tensor copied = x.t().reshape({-1});
  EXPECT_NE(copied.data_ptr(), x.data_ptr());
  EXPECT_EQ(values<std::int64_t>(copied), (std::vector<std::int64_t>{0, 3, 1, 4, 2, 5}));
}

TEST(Tensor, GivesItsNameToViewsCopiesAndConversions) {
  Tensor x = zeros({2, 3});
  x.set_name("weights");
  EXPECT_EQ(x[0].name(), "weights");
  EXPECT_EQ(x.t().contiguous().name(), "weights");
  EXPECT_EQ(x.to(kF16).name(), "weights");
  EXPECT_EQ(x.clone().name(), "weights");
}

TEST(Tensor, ConvertsBetweenAllTypes) {
  const Dtype all[] = {kF32, kF16, kBF16, kF64, kI64, kI32, kU8, kBool};
  for (const Dtype from : all) {
    for (const Dtype to : all) {
      const Tensor converted = tensor<float>({0, 1, 1}).to(from).to(to);
      EXPECT_EQ(converted.dtype(), to);
      EXPECT_EQ(values<double>(converted.to(kF64)), (std::vector<double>{0, 1, 1})) << name_of(from) << name_of(to);
    }
  }
}

TEST(Tensor, ReturnsItselfFromToWhenNothingChanges) {
  const Tensor x = zeros({3});
  EXPECT_TRUE(x.to("cpu").is_same(x));
  EXPECT_TRUE(x.to(kF32).is_same(x));
  EXPECT_TRUE(x.to("cpu", kF32).is_same(x));
  EXPECT_FALSE(x.to(kF32, true).is_same(x));
  EXPECT_NE(x.to(kF32, true).data_ptr(), x.data_ptr());
}

TEST(Tensor, GivesTheOneValueOfAScalar) {
  EXPECT_EQ(arange(5)[3].item<int>(), 3);
  EXPECT_EQ((full({}, 1, kI64) * 9007199254740993LL).item<std::int64_t>(), 9007199254740992LL);
  EXPECT_EQ(tensor<std::int64_t>({9007199254740993LL}).item<std::int64_t>(), 9007199254740993LL);
  EXPECT_TRUE(static_cast<bool>(full({1, 1}, 0.5)));
  EXPECT_FALSE(static_cast<bool>(zeros({})));
  expect_error("not-a-scalar", "a Tensor with 2 elements cannot be converted to Scalar", [] { zeros({2}).item(); });
  expect_error("not-a-scalar", "Boolean value of Tensor with more than one value is ambiguous",
               [] { return static_cast<bool>(zeros({2})); });
}

TEST(Tensor, PrintsSizesTypeDeviceAndValues) {
  Tensor x = arange(4, kF32).view({2, 2});
  EXPECT_EQ(x.str(), "f32[2, 2] on cpu = [[0, 1], [2, 3]]");
  EXPECT_EQ(x.t().to(kBool).set_name("mask").str(), "mask: bool[2, 2] on cpu = [[false, true], [true, true]]");
  EXPECT_EQ(arange(2000).str(), "i64[2000] on cpu = [0, 1, 2, ..., 1997, 1998, 1999]");
  EXPECT_EQ(full({}, 0.1, kF64).str(), "f64[] on cpu = 0.1");
  EXPECT_EQ(empty({0}).str(), "f32[0] on cpu = []");
}

TEST(Tensor, RefusesHostAccessOfAnotherTypeOrOrder) {
  const Tensor x = zeros({2, 3});
  expect_error("dtype-mismatch", "expected scalar type Double but found Float", [&] { x.data<double>(); });
  expect_error("not-contiguous", "data() needs a contiguous tensor", [&] { x.t().data<float>(); });
}

TEST(Tensor, RefusesHostAccessToACard) {
  AttachedCard card;
  Tensor x = zeros({2}, Device("sim"));
  x.set_name("scores");
  const auto read = [&] { x.data<float>(); };
  expect_error(
      "not-on-the-host",
      "can't convert sim:0 device type tensor to numpy. Use Tensor.cpu() to copy the tensor to host memory first.",
      read);
  EXPECT_EQ(error_of(read).why(), "'scores' lives on sim:0, whose memory the host cannot read or write");
}

TEST(Tensor, BorrowsMemoryWithoutFreeingIt) {
  float mine[3] = {1, 2, 3};
  {
    from_blob(mine, {3}, kF32).fill_(7);
  }
  EXPECT_EQ(mine[2], 7);
}

TEST(Tensor, RefusesToWriteToExpandedElements) {
  const Tensor x = zeros({2, 1}).expand({2, 3});
  expect_error(
      "overlapping-output",
      "unsupported operation: more than one element of the written-to tensor refers to a single memory location. "
      "Please clone() the tensor before performing the operation.",
      [&] { x.fill_(1); });
}

TEST(Tensor, RefusesToWriteOverWhatItStillReads) {
  const Tensor x = arange(6);
  EXPECT_EQ(error_of([&] { add_(x.narrow(0, 0, 4), x.narrow(0, 2, 4)); }).code(), "partial-overlap");
  const Tensor pairs = arange(6).view({3, 2});
  add_(pairs.select(1, 0), pairs.select(1, 1));
  EXPECT_EQ(values<std::int64_t>(pairs), (std::vector<std::int64_t>{1, 1, 5, 3, 9, 5}));
}

TEST(Tensor, AnnouncesItsBlockWithNameAndBothSizes) {
  AttachedCard card;
  Tensor host = zeros({100});
  host.set_name("batch");
  {
    const Tensor x = host.to("sim");
    ASSERT_EQ(card->allocs.size(), 1u);
    EXPECT_EQ(card->allocs[0].requested, 400u);
    EXPECT_EQ(card->allocs[0].block_bytes, 512u);
    EXPECT_EQ(card->allocs[0].name, "batch");
    EXPECT_EQ(card->frees, 0u);
  }
  EXPECT_EQ(card->frees, 1u);
}

TEST(Tensor, WritesNewValuesOnTheCardItself) {
  AttachedCard card;
  full({1000}, 3, Device("sim"));
  arange(10, {kI64, Device("sim")});
  EXPECT_TRUE(card->copies.empty());
  EXPECT_EQ(card->launches.size(), 2u);
}

TEST(Tensor, TellsTheCardItsNameUnlessItIsAPartOfItsMemory) {
  AttachedCard card;
  Tensor x = zeros({4}, Device("sim"));
  x.set_name("weights");
  x.narrow(0, 0, 2).set_name("bias");
  zeros({4}).set_name("on the host");
  zeros({4}, Options().pinned_memory()).set_name("buffer");
  EXPECT_EQ(card->names, (std::vector<std::string>{"weights", "buffer"}));
}

TEST(Tensor, RefusesToBeRecordedInAStreamOfAnotherDevice) {
  AttachedCard cards(2);
  zeros({4}).record_stream(Stream());
  const Tensor x = zeros({4}, Device("sim:0"));
  expect_error("device-mismatch", "a tensor on sim:0 cannot be recorded in a stream of sim:1",
               [&] { x.record_stream(Stream("sim:1")); });
  expect_error("device-mismatch", "a tensor on cpu cannot be recorded in a stream of sim:0",
               [&] { zeros({4}).record_stream(Stream("sim:0")); });
}

TEST(Tensor, OutlivesItsCardWithoutHarm) {
  Tensor x, pinned;
  std::shared_ptr<test::FakeCard::Log> log;
  {
    AttachedCard card;
    log = card.log();
    x = zeros({4}, Device("sim"));
    pinned = zeros({4}, Options().pinned_memory());
  }
  expect_error("device-gone", "sim:0 is gone, and with it the memory of this tensor", [&] { x.cpu(); });
  expect_error("device-gone", "sim:0 is gone, and with it the memory of this tensor", [&] { pinned.data<float>(); });
  EXPECT_EQ(x.sizes(), Dims({4}));
  AttachedCard next;
  EXPECT_EQ(error_of([&] { add(x, x); }).code(), "device-gone");
  x = Tensor();
  EXPECT_EQ(log->frees, 0u);
}

TEST(Tensor, IsFreedQuietlyWhenItsCardNoLongerAnswers) {
  AttachedCard card;
  {
    const Tensor x = zeros({4}, Device("sim"));
    card.card().dead = true;
  }
  EXPECT_EQ(card->frees, 1u);
}

TEST(Memory, FollowsTheTensorsOfADevice) {
  EXPECT_EQ(memory_allocated("sim:0"), 0u);
  AttachedCard card;
  const Device device("sim:0");
  EXPECT_EQ(memory_reserved(device), 0u);
  {
    const Tensor x = empty({1000}, device);
    EXPECT_EQ(memory_allocated(device), 4096u);
    EXPECT_EQ(memory_reserved("sim"), std::size_t{2} << 20);
    EXPECT_EQ(memory_stats(device).at("requested_bytes.all.current"), 4000);
  }
  EXPECT_EQ(memory_allocated(device), 0u);
  EXPECT_EQ(max_memory_allocated(device), 4096u);
  reset_peak_memory_stats(device);
  EXPECT_EQ(max_memory_allocated(device), 0u);
  empty_cache(device);
  EXPECT_EQ(memory_reserved(device), 0u);
  EXPECT_EQ(max_memory_reserved(device), std::size_t{2} << 20);
  EXPECT_EQ(mem_get_info(device).free_bytes, std::size_t{64} << 20);
  EXPECT_EQ(memory_allocated("cpu"), 0u);
}

TEST(Memory, IsRefusedWithPyTorchsTextWhenTheCardIsFull) {
  AttachedCard card;
  const Error error = error_of([] { empty({std::int64_t{100} << 20}, Device("sim")); });
  EXPECT_EQ(error.code(), "out-of-memory");
  EXPECT_EQ(std::string(error.what())
                .rfind("CUDA out of memory. Tried to allocate 400.00 MiB. GPU 0 has a total capacity of "
                       "64.00 MiB of which 64.00 MiB is free.",
                       0),
            0u)
      << error.what();
}

TEST(PinnedMemory, IsTakenOnceKeptAndGivenBackWhenAsked) {
  AttachedCard card;
  {
    const Tensor x = arange(4).pin_memory();
    EXPECT_TRUE(x.is_pinned());
    EXPECT_TRUE(x[1].is_pinned());
    EXPECT_TRUE(x.pin_memory().is_same(x));
    EXPECT_EQ(values<std::int64_t>(x), (std::vector<std::int64_t>{0, 1, 2, 3}));
    EXPECT_EQ(card->pinned, 1u);
  }
  EXPECT_EQ(card->pinned, 1u);
  EXPECT_EQ(host_memory_stats("sim").at("active_requests.current"), 0);
  EXPECT_EQ(host_memory_stats("sim").at("allocated_bytes.current"), 32);
  empty_host_cache("sim");
  EXPECT_EQ(card->pinned, 0u);
  EXPECT_EQ(host_memory_stats("sim:0").at("num_host_free"), 1);
  reset_peak_host_memory_stats("sim");
  EXPECT_EQ(host_memory_stats("sim").at("allocated_bytes.peak"), 0);
}

TEST(PinnedMemory, IsTakenInPowersOfTwoAndAnnouncedAsItWasAsked) {
  AttachedCard card;
  Tensor x = zeros({100});
  x.set_name("batch");
  x.pin_memory();
  ASSERT_EQ(card->pinned_allocs.size(), 1u);
  EXPECT_EQ(card->pinned_allocs[0].requested, 400u);
  EXPECT_EQ(card->pinned_allocs[0].block_bytes, 512u);
  EXPECT_EQ(card->pinned_allocs[0].name, "batch");
  EXPECT_EQ(card->pinned_frees, 1u);
}

TEST(PinnedMemory, IsNotUsedAgainBeforeTheCopiesFromItAreDone) {
  AttachedCard card;
  card.card().events_done = false;
  Tensor x = empty({64}, Options().pinned_memory());
  const void* first = x.data_ptr();
  const Tensor there = x.narrow(0, 16, 16).to("sim", true);  // of a part: the whole block is in use
  x = Tensor();
  x = empty({64}, Options().pinned_memory());
  EXPECT_NE(x.data_ptr(), first);
  card.card().events_done = true;
  const Tensor y = empty({64}, Options().pinned_memory());
  EXPECT_EQ(y.data_ptr(), first);
  EXPECT_EQ(card->events, 0u);
}

TEST(PinnedMemory, IsUsedAgainAtOnceAfterACopyThatBlocked) {
  AttachedCard card;
  card.card().events_done = false;
  Tensor x = empty({64}, Options().pinned_memory());
  const void* first = x.data_ptr();
  const Tensor there = x.to("sim");
  x = Tensor();
  EXPECT_EQ(empty({64}, Options().pinned_memory()).data_ptr(), first);
}

TEST(PinnedMemory, WaitsForAStreamThatWasRecorded) {
  AttachedCard card;
  card.card().events_done = false;
  Tensor x = empty({64}, Options().pinned_memory());
  const void* first = x.data_ptr();
  x.record_stream(new_stream("sim"));
  x = Tensor();
  EXPECT_NE(empty({64}, Options().pinned_memory()).data_ptr(), first);
}

TEST(PinnedMemory, TakesItsSettingsFromTheStringOfAnyCardOfItsType) {
  AttachedCard cards(2);
  set_allocator_settings("sim:1", "pinned_max_round_threshold_mb:1,pinned_max_cached_size_mb:2");
  Tensor x = empty({3 << 20}, Options(kU8).pinned_memory());
  EXPECT_EQ(host_memory_stats("sim").at("active_bytes.current"), 3 << 20);
  x = Tensor();
  EXPECT_EQ(host_memory_stats("sim").at("allocated_bytes.current"), 0);
}

TEST(Tensor, OfTheCardWaitsForAStreamThatWasRecorded) {
  AttachedCard card;
  card.card().events_done = false;
  Tensor x = empty({64}, Device("sim"));
  const void* first = x.data_ptr();
  x.narrow(0, 8, 8).record_stream(Stream("sim:0", 3));  // of a part: the whole block is in use
  x = Tensor();
  EXPECT_EQ(card->order, std::vector<std::string>{"sim:0 record 1 in 3"});
  EXPECT_NE(empty({64}, Device("sim")).data_ptr(), first);
}

TEST(PinnedMemory, IsOnePoolForAllCardsOfAType) {
  AttachedCard cards(2);
  cards.card().events_done = false;
  Tensor x = zeros({64}, Device("sim:1")).to("cpu", true);
  const void* first = x.data_ptr();
  x = Tensor();  // an event of sim:1 guards the memory
  EXPECT_EQ(cards->order.back(), "sim:1 record 1 in 0");
  const Tensor y = empty({64}, Options().pinned_memory());
  EXPECT_EQ(y.data_ptr(), first);
  EXPECT_EQ(host_memory_stats("sim:1").at("num_host_alloc"), 1);
}

TEST(PinnedMemory, IsRefusedForTensorsOfACardWithPyTorchsText) {
  AttachedCard card;
  expect_error("not-on-the-host", "cannot pin 'torch.sim.FloatTensor' only dense CPU tensors can be pinned",
               [] { zeros({2}, Device("sim")).pin_memory(); });
  expect_error("not-on-the-host", "Only dense CPU tensors can be pinned",
               [] { zeros({2}, Options(Device("sim")).pinned_memory()); });
}

TEST(PinnedMemory, SaysWhenThereIsNoneLeft) {
  AttachedCard card;
  expect_error("out-of-pinned-memory", "CUDA error: out of memory: no pinned memory left for 381.47 MiB",
               [] { empty({100000000}, Options().pinned_memory()); });
}

}  // namespace
}  // namespace labrig
