// In which order a device works, and what keeps memory from being used again too early: streams, events, copies that
// do not block, pinned memory. Values decide: where something is not waited for, a card shows it sooner or later.
#include <memory>
#include <set>

#include "contract.hpp"
#include "labrig/memory.hpp"
#include "labrig/stream.hpp"
#include "late_machine.hpp"

namespace labrig::contract {
namespace {

class Order : public DeviceContract {
 protected:
  void SetUp() override {
    if (Device(GetParam()).type() == DeviceType::sim) machine_ = std::make_unique<LateMachine>(1);
    DeviceContract::SetUp();
  }

  // Keeps the current stream of a real card busy for a while, so that what does not wait comes too early.
  Tensor long_work() const {
    const std::int64_t n = device.type() == DeviceType::cuda ? 4096 : 64;
    Tensor x = full({n, n}, 1.0 / static_cast<double>(n), device);
    for (int i = 0; i < 10; ++i) x = matmul(x, x);
    return x;
  }
  static Tensor pinned(std::int64_t count) { return empty({count}, Options().pinned_memory()); }

 private:
  std::unique_ptr<LateMachine> machine_;
};

TEST_P(Order, HasNothingToWaitForInAnEventThatWasNotRecorded) {
  Event event(device);
  EXPECT_EQ(event.device(), device);
  EXPECT_TRUE(event.query());
  event.synchronize();
  event.wait();
  new_stream(device).wait_event(event);
  EXPECT_EQ(sum(ones({10}, device)).item(), 10);
}

TEST_P(Order, MeasuresOnlyWithTimingAndOnlyWhatWasRecorded) {
  Event start(device), stop(device), untimed(device, false);
  const auto code = [](const Event& from, const Event& to) {
    try {
      from.elapsed_ms(to);
    } catch (const Error& error) {
      return error.code();
    }
    return std::string("none");
  };
  start.record();
  untimed.record();
  EXPECT_EQ(code(start, stop), "event-not-ready");
  EXPECT_EQ(code(start, untimed), "event-without-timing");
  stop.record();
  stop.synchronize();
  EXPECT_EQ(code(start, stop), "none");
  EXPECT_GE(start.elapsed_ms(stop), 0);
}

TEST_P(Order, LetsAStreamWaitForAnotherOne) {
  const Stream producer = new_stream(device), consumer = new_stream(device);
  Tensor x = zeros({1000}, device), y;
  current_stream(device).synchronize();
  {
    const StreamGuard guard(producer);
    const Tensor work = long_work();
    x.fill_(3);
    x.record_stream(producer);
  }
  {
    const StreamGuard guard(consumer);
    consumer.wait_stream(producer);
    y = x * 2.0;
    x.record_stream(consumer);
  }
  const Event done = consumer.record_event();
  done.synchronize();
  EXPECT_TRUE(done.query());
  EXPECT_EQ(values(y), std::vector<double>(1000, 6.0));
}

TEST_P(Order, KeepsAWaitWhenItsEventIsRecordedAgain) {
  const Stream producer = new_stream(device), consumer = new_stream(device);
  const Tensor x = zeros({1000}, device);
  Tensor y;
  Event event(device);
  current_stream(device).synchronize();
  {
    const StreamGuard guard(producer);
    const Tensor work = long_work();
    x.fill_(3);
    event.record();
  }
  event.wait(consumer);
  event.record(new_stream(device));  // of a stream without work
  {
    const StreamGuard guard(consumer);
    y = x * 2.0;
    EXPECT_EQ(values(y), std::vector<double>(1000, 6.0));
  }
  synchronize(device);
}

TEST_P(Order, HandsOutAsManyStreamsAsAreAskedFor) {
  std::set<int> ids;
  for (int i = 0; i < 100; ++i) {
    const Stream stream = new_stream(device);
    const StreamGuard guard(stream);
    EXPECT_EQ(full({}, i, device).item(), i);
    ids.insert(stream.id());
  }
  EXPECT_LE(ids.size(), 32u);
}

TEST_P(Order, MakesTheDeviceOfAStreamCurrent) {
  const Stream before = current_stream(device), stream = new_stream(device);
  {
    const StreamGuard guard(stream);
    EXPECT_EQ(current_stream(device), stream);
    EXPECT_EQ(resolve(Device(device.type())), device);
  }
  EXPECT_EQ(current_stream(device), before);
}

TEST_P(Order, ReadsAPageableSourceBeforeACopyReturns) {
  for (const std::int64_t count : {1000, 1 << 20}) {
    const Tensor x = full({count}, 3);
    const Tensor busy = long_work();
    const Tensor there = x.to(device, true);
    if (!device.is_cpu()) x.fill_(9);
    EXPECT_EQ(sum(there).item(), 3 * count);
  }
}

TEST_P(Order, LandsInPageableMemoryBeforeACopyReturns) {
  const Tensor host = zeros({100000});
  const Tensor busy = long_work();
  host.copy_(full({100000}, 5, device), true);
  EXPECT_EQ(values(host), std::vector<double>(100000, 5.0));
}

TEST_P(Order, LandsInPinnedMemoryOnceItIsWaitedFor) {
  if (device.is_cpu()) GTEST_SKIP() << "nothing is copied on the host";
  const Tensor x = full({100000}, 5, device);
  const Tensor busy = long_work();
  const Tensor host = x.to("cpu", true);
  EXPECT_TRUE(host.is_pinned());
  current_stream(device).record_event().synchronize();
  EXPECT_EQ(values(host), std::vector<double>(100000, 5.0));
}

TEST_P(Order, DoesNotHandOutPinnedMemoryThatACopyStillReads) {
  if (device.is_cpu()) GTEST_SKIP() << "nothing is copied on the host";
  std::vector<Tensor> there;
  const Tensor busy = long_work();
  for (int i = 0; i < 20; ++i) {
    const Tensor buffer = pinned(100000);
    buffer.fill_(i);
    there.push_back(buffer.narrow(0, 10, 90000).to(device, true));  // a slice keeps the whole buffer
  }
  for (int i = 0; i < 20; ++i) EXPECT_EQ(max(there[static_cast<std::size_t>(i)]).item(), i);
}

TEST_P(Order, DoesNotHandOutCardMemoryThatARecordedStreamStillReads) {
  const Stream side = new_stream(device);
  Tensor y;
  {
    const Tensor x = full({1000}, 3, device);
    side.wait_stream(current_stream(device));
    {
      const StreamGuard guard(side);
      const Tensor busy = long_work();
      y = x + 1.0;
    }
    x.record_stream(side);
  }
  for (int i = 0; i < 20; ++i) full({1000}, 100, device);
  side.synchronize();
  EXPECT_EQ(values(y), std::vector<double>(1000, 4.0));
}

TEST_P(Order, CountsPinnedMemoryInPowersOfTwo) {
  if (device.is_cpu()) GTEST_SKIP() << "pinned memory is for cards";
  empty({1}, device).to("cpu", true);  // opens the device
  synchronize(device);
  empty_host_cache(device);  // whose block nobody uses any more
  const auto before = host_memory_stats(device);
  const auto grown = [&](const char* key) { return host_memory_stats(device).at(key) - before.at(key); };
  const Tensor x = zeros({3000}, device).to("cpu", true);
  EXPECT_EQ(grown("active_requests.current"), 1);
  EXPECT_EQ(grown("active_bytes.current"), 16384);
  EXPECT_EQ(grown("requested_bytes.current"), 12000);
  synchronize(device);
}

TEST_P(Order, UnpinsWhatNobodyUses) {
  if (device.is_cpu()) GTEST_SKIP() << "pinned memory is for cards";
  zeros({3000}, device).to("cpu", true);
  synchronize(device);
  empty_host_cache(device);
  EXPECT_EQ(host_memory_stats(device).at("allocated_bytes.current"),
            host_memory_stats(device).at("active_bytes.current"));
}

INSTANTIATE_TEST_SUITE_P(Every, Order, testing::Values("cpu", "sim:0", "cuda:0"),
                         [](const auto& parameter) { return std::string(name_of(Device(parameter.param).type())); });

}  // namespace
}  // namespace labrig::contract
