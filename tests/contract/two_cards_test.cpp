// Two cards of one type in one program: each with its own memory, streams and current stream; copies between them
// without the host; streams that wait for each other's events. On `sim` a machine with two cards, on `cuda` the first
// two.
#include <memory>

#include "contract.hpp"
#include "labrig/memory.hpp"
#include "labrig/stream.hpp"
#include "late_machine.hpp"

namespace labrig::contract {
namespace {

class TwoCards : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    const DeviceType type = Device(GetParam()).type();
    if (type == DeviceType::sim) machine_ = std::make_unique<LateMachine>(2);
    if (device_count(type) < 2) GTEST_SKIP() << "there are not two cards of type " << GetParam();
    first = Device(type, 0);
    second = Device(type, 1);
  }

  std::unique_ptr<LateMachine> machine_;

 public:
  Device first, second;
};

TEST_P(TwoCards, CopyToEachOther) {
  const Tensor x = arange(100000, {kF32, first});
  const Tensor y = x.to(second);
  EXPECT_EQ(y.device(), second);
  EXPECT_EQ(values(y), values(x));
  x.zero_();
  EXPECT_EQ(y[99999].item(), 99999);
  x.copy_(y.narrow(0, 0, 10).expand({10000, 10}).reshape({100000}));
  EXPECT_EQ(x[15].item(), 5);
}

TEST_P(TwoCards, PackAndConvertOnTheWay) {
  const Tensor x = arange(12, {kI32, first}).view({3, 4});
  EXPECT_EQ(values(x.t().to(second, kF16)), (std::vector<double>{0, 4, 8, 1, 5, 9, 2, 6, 10, 3, 7, 11}));
  const Tensor grid = full({4, 3}, -1, second);
  grid.select(1, 1).copy_(x[1]);
  EXPECT_EQ(values(grid), (std::vector<double>{-1, 4, -1, -1, 5, -1, -1, 6, -1, -1, 7, -1}));
}

TEST_P(TwoCards, OrderACopyWithTheWorkOfBothStreams) {
  set_current_stream(new_stream(second));
  set_current_stream(new_stream(first));
  const Tensor x = zeros({256, 256}, first), y = zeros({256, 256}, second);
  for (int i = 1; i <= 5; ++i) {
    x.fill_(1.0 / 256);
    const Tensor product = matmul(matmul(x, x), x);
    const Tensor before = matmul(y, y);  // reads y, which the copy then writes
    y.copy_(product);
    EXPECT_EQ(before[0][0].item(), i == 1 ? 0 : 1.0 / 256);
    EXPECT_EQ(y[255][255].item(), 1.0 / 256);
  }
  set_current_stream(Stream(second));
  set_current_stream(Stream(first));
}

TEST_P(TwoCards, WaitForEachOthersEvents) {
  const Stream here = new_stream(first), there = new_stream(second);
  Event done(first);
  done.record(here);
  done.wait(there);
  there.wait_stream(here);
  here.wait_stream(there);
  done.synchronize();
  EXPECT_TRUE(done.query());
  there.synchronize();
  here.synchronize();
  EXPECT_TRUE(there.query() && here.query());
}

TEST_P(TwoCards, CountTheirMemoryApart) {
  const std::size_t held = memory_allocated(second);
  const Tensor x = zeros({1 << 20}, first);
  EXPECT_EQ(memory_allocated(second), held);
  const Tensor y = x.to(second);
  EXPECT_EQ(memory_allocated(second) - held, std::size_t{4} << 20);
}

TEST_P(TwoCards, AreChosenByGuards) {
  const Device any(first.type());
  EXPECT_EQ(zeros({2}, any).device(), first);
  {
    const DeviceGuard guard(second);
    EXPECT_EQ(zeros({2}, any).device(), second);
    const StreamGuard inner(new_stream(first));
    EXPECT_EQ(zeros({2}, any).device(), first);
  }
  EXPECT_EQ(zeros({2}, any).device(), first);
}

TEST_P(TwoCards, ShareThePinnedMemoryOfTheirType) {
  Tensor x = full({1000}, 7, second).to("cpu", true);
  synchronize(second);
  EXPECT_EQ(values(x.to(first, true)), std::vector<double>(1000, 7.0));
  EXPECT_EQ(host_memory_stats(first), host_memory_stats(second));
  const void* memory = x.data_ptr();
  synchronize(first);
  x = Tensor();
  EXPECT_EQ(zeros({900}, first).to("cpu", true).data_ptr(), memory);
  synchronize(first);
}

TEST_P(TwoCards, RefuseToBeMixedInOneOperator) {
  try {
    add(ones({2}, first), ones({2}, second));
    FAIL() << "nothing was thrown";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), "device-mismatch");
  }
}

INSTANTIATE_TEST_SUITE_P(Every, TwoCards, testing::Values("sim", "cuda"),
                         [](const auto& parameter) { return std::string(parameter.param); });

TEST(SimulatedMachine, TimesPinningWithItsOwnClock) {
  const auto stats_of_a_program = [] {
    sim::MachineOptions options;
    options.cards = {sim::load_profile("desktop").value()};
    const sim::InProcessMachine machine(options);
    for (const std::int64_t count : {1000, 100000, 1000000}) {
      empty({count}, Options().pinned_memory()).to("sim:0", true);
    }
    synchronize("sim:0");
    empty_host_cache("sim:0");
    return host_memory_stats("sim:0");
  };
  const auto stats = stats_of_a_program();
  EXPECT_EQ(stats, stats_of_a_program());
  EXPECT_EQ(stats.at("host_alloc_time.count"), 3);
  EXPECT_GT(stats.at("host_alloc_time.min"), 0);
  EXPECT_EQ(stats.at("num_host_free"), 3);
}

TEST(SimulatedMachine, CallsAPinnedBufferByItsNewName) {
  sim::MachineOptions options;
  options.cards = {sim::load_profile("desktop").value()};
  options.mode = sim::Mode::late;
  sim::InProcessMachine machine(options);
  Tensor buffer = zeros({1000}, Options().pinned_memory());
  buffer.set_name("batch");
  const Tensor there = buffer.to("sim:0", true);
  buffer.fill_(1);  // the card may still read it
  synchronize("sim:0");
  const sim::Report report = machine.report();
  ASSERT_EQ(report.hazards.size(), 1u);
  EXPECT_EQ(report.hazards[0].buffer, "batch");
  EXPECT_EQ(report.violation_code, "");
}

TEST(CardsOfTwoTypes, CopyByWayOfTheHost) {
  if (device_count(DeviceType::cuda) == 0) GTEST_SKIP() << "there is no cuda device";
  const Tensor x = arange(1000, {kI32, Device("sim:0")});
  const Tensor there = x.to("cuda:0", kF32);
  EXPECT_EQ(values(there), values(x));
  EXPECT_EQ(values(there.to("sim:0")), values(x));
  const Tensor pinned = arange(1000, kF32).pin_memory();  // for one of them; to the other it is pageable
  EXPECT_EQ(values(pinned.to("cuda:0", true)), values(pinned.to("sim:0", true)));
}

}  // namespace
}  // namespace labrig::contract
