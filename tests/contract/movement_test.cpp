// Values on the move: copies in all layouts and directions, joined tensors, pinned memory, streams, events, memory
// figures.
#include <thread>

#include "contract.hpp"
#include "labrig/memory.hpp"
#include "labrig/stream.hpp"

namespace labrig::contract {
namespace {

class Movement : public DeviceContract {};

TEST_P(Movement, KeepsEveryBitOfEveryTypeThereAndBack) {
  for (const Dtype dtype : kAllTypes) {
    const Tensor x = host_sample({13, 11}, dtype, 1);
    EXPECT_EQ(values(x.to(device)), values(x)) << name_of(dtype);
    EXPECT_EQ(values(x.t().to(device)), values(x.t())) << name_of(dtype);
    EXPECT_EQ(values(x.to(device).t().cpu()), values(x.t())) << name_of(dtype);
    EXPECT_EQ(values(x.to(device).slice(1, 1, 10, 3).cpu()), values(x.slice(1, 1, 10, 3))) << name_of(dtype);
  }
}

TEST_P(Movement, WritesIntoPartsAndNowhereElse) {
  const Tensor buffer = full({5, 6}, -1, device);
  buffer.narrow(0, 1, 2).narrow(1, 1, 3).copy_(tensor<float>({1, 2, 3}));
  auto expected = std::vector<double>(30, -1);
  for (const std::size_t row : {1, 2}) {
    for (std::size_t i = 0; i < 3; ++i) expected[row * 6 + 1 + i] = static_cast<double>(i + 1);
  }
  EXPECT_EQ(values(buffer), expected);
  const Tensor host = full({5, 6}, -1);
  host.narrow(0, 1, 2).narrow(1, 1, 3).copy_(put({1, 2, 3}, {3}));
  EXPECT_EQ(values(host), expected);
}

TEST_P(Movement, ReturnsItselfWhenNothingChanges) {
  const Tensor x = zeros({4}, device);
  EXPECT_TRUE(x.to(device).is_same(x));
  EXPECT_TRUE(x.to(device, kF32, true).is_same(x));
  const Tensor copy = x.to(device, false, true);
  EXPECT_FALSE(copy.is_same(x));
  copy.fill_(1);
  EXPECT_EQ(values(x), std::vector<double>(4, 0.0));
}

TEST_P(Movement, ConvertsOnTheWay) {
  const Tensor x = host_sample({100}, kF32, 2);
  EXPECT_EQ(values(x.to(device, kF16)), values(x.to(kF16)));
  EXPECT_EQ(values(x.to(device, kF16, true)), values(x.to(kF16)));
  EXPECT_EQ(values(x.to(device).to("cpu", kI32)), values(x.to(kI32)));
  const Tensor late = x.to(device).to("cpu", kI32, true);
  synchronize(device);
  EXPECT_EQ(values(late), values(x.to(kI32)));
}

TEST_P(Movement, MovesLargeTensorsFromPageableAndPinnedMemory) {
  const Tensor x = arange(1 << 20, kF32);
  const Tensor there = x.to(device);
  EXPECT_EQ(there[(1 << 20) - 1].item(), (1 << 20) - 1);
  const Tensor back = there.cpu();
  EXPECT_EQ(back.data<float>()[12345], 12345);
  if (device.is_cpu()) return;
  const Tensor pinned = x.pin_memory();
  const Tensor again = pinned.to(device, true);
  const Tensor landed = again.to("cpu", true);
  EXPECT_TRUE(landed.is_pinned());
  current_stream(device).synchronize();
  EXPECT_EQ(landed.data<float>()[654321], 654321);
}

TEST_P(Movement, JoinsAlongAnyDimension) {
  const Tensor a = put({1, 2, 3, 4}, {2, 2}), b = put({5, 6}, {1, 2});
  EXPECT_EQ(values(cat({a, b})), (std::vector<double>{1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(values(cat({a, b.t()}, 1)), (std::vector<double>{1, 2, 5, 3, 4, 6}));
  EXPECT_EQ(values(cat({a, zeros({0}, device), b.to(kF64)})), (std::vector<double>{1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(values(stack({a[0], a[1]}, 1)), (std::vector<double>{1, 3, 2, 4}));
  EXPECT_EQ(stack({a, a}, -1).sizes(), Dims({2, 2, 2}));
}

TEST_P(Movement, ClonesApart) {
  const Tensor x = put({1, 2, 3, 4}, {2, 2});
  const Tensor copy = x.t().clone();
  x.zero_();
  EXPECT_EQ(values(copy), (std::vector<double>{1, 3, 2, 4}));
  EXPECT_TRUE(copy.is_contiguous());
}

TEST_P(Movement, OrdersTwoStreamsByAnEvent) {
  const Stream first = new_stream(device), second = new_stream(device);
  Event done(device);
  Tensor x = empty({1000}, device);
  current_stream(device).synchronize();
  {
    const StreamGuard guard(first);
    x.fill_(3);
    done.record(first);
  }
  Tensor y;
  {
    const StreamGuard guard(second);
    done.wait(second);
    y = x * 2.0;
    second.synchronize();
  }
  EXPECT_TRUE(second.query());
  EXPECT_EQ(y[999].item(), 6);
  synchronize(device);
}

TEST_P(Movement, MeasuresTheTimeBetweenTwoEvents) {
  Event start(device), stop(device);
  const Stream stream = current_stream(device);
  start.record(stream);
  const Tensor x = ones({100, 100}, device);
  matmul(x, x);
  stop.record(stream);
  stop.synchronize();
  EXPECT_TRUE(stop.query());
  const double elapsed = start.elapsed_ms(stop);
  EXPECT_GT(elapsed, 0);
  EXPECT_LT(elapsed, 60000);
}

TEST_P(Movement, FetchesValues) {
  EXPECT_EQ(full({}, 2.5, {kF64, device}).item(), 2.5);
  EXPECT_EQ(arange(10, {kI64, device})[7].item<std::int64_t>(), 7);
  EXPECT_TRUE(static_cast<bool>(full({1}, 1, {kBool, device})));
  EXPECT_EQ(put({1, 2}, {2}).str(), "f32[2] on " + device.str() + " = [1, 2]");
}

TEST_P(Movement, CountsTheMemoryOfACard) {
  if (device.is_cpu()) GTEST_SKIP() << "host memory is not counted";
  empty_cache(device);
  const std::size_t before = memory_allocated(device);
  const MemoryInfo card = mem_get_info(device);
  {
    const Tensor x = empty({5 << 20}, {kU8, device});
    EXPECT_EQ(memory_allocated(device) - before, std::size_t{5} << 20);
    EXPECT_EQ(card.free_bytes - mem_get_info(device).free_bytes, std::size_t{20} << 20);
  }
  EXPECT_EQ(memory_allocated(device), before);
  EXPECT_GE(max_memory_allocated(device), before + (std::size_t{5} << 20));
  empty_cache(device);
  EXPECT_EQ(mem_get_info(device).free_bytes, card.free_bytes);
}

TEST_P(Movement, RefusesWhatTheCardHasNoRoomForAndGoesOn) {
  if (device.is_cpu()) GTEST_SKIP() << "the host may promise more memory than it has";
  const auto too_much = static_cast<std::int64_t>(mem_get_info(device).total_bytes) + 1;
  try {
    empty({too_much}, {kU8, device});
    FAIL() << "nothing was thrown";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), "out-of-memory");
  }
  EXPECT_EQ(sum(ones({100}, device)).item(), 100);
}

TEST_P(Movement, FreesOnAnotherThread) {
  Tensor x = ones({1000}, device);
  const std::size_t held = memory_allocated(device);
  std::thread([tensor = std::move(x)]() mutable { tensor = Tensor(); }).join();
  if (device.is_cpu()) return;
  EXPECT_LT(memory_allocated(device), held);
}

TEST_P(Movement, ServesSeveralHostThreads) {
  std::vector<double> sums(4);
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < sums.size(); ++i) {
    threads.emplace_back([&, i] {
      for (int round = 0; round < 20; ++round) {
        const Tensor x = full({500}, static_cast<double>(i), device);
        sums[i] += sum(x + 1).item();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(sums, (std::vector<double>{10000, 20000, 30000, 40000}));
}

INSTANTIATE_TEST_SUITE_P(Every, Movement, testing::Values("cpu", "sim:0", "cuda:0"),
                         [](const auto& parameter) { return std::string(name_of(Device(parameter.param).type())); });

}  // namespace
}  // namespace labrig::contract
