// Devices, streams and events: names, what is current, and what is said about devices that are not there.
#include "labrig/device.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <thread>

#include "expect_error.hpp"
#include "fake_card.hpp"
#include "labrig/stream.hpp"
#include "labrig/tensor.hpp"

namespace labrig {
namespace {

using test::AttachedCard;
using test::error_of;
using test::expect_error;

// Sets LABRIG_DEVICE for a scope.
struct ForcedDevice {
  explicit ForcedDevice(const char* value) { setenv("LABRIG_DEVICE", value, 1); }
  ~ForcedDevice() { unsetenv("LABRIG_DEVICE"); }
};

TEST(Device, ReadsAndPrintsItsName) {
  for (const char* name : {"cpu", "sim", "sim:1", "cuda:0", "cuda"}) EXPECT_EQ(Device(name).str(), name);
  EXPECT_EQ(Device("cpu:0"), Device("cpu"));
  EXPECT_EQ(Device("sim:12").index(), 12);
  EXPECT_FALSE(Device("sim").has_index());
}

TEST(Device, RefusesOtherNamesWithPyTorchsText) {
  expect_error("invalid-device-string", "Expected one of cpu, sim, cuda device type at start of device string: gpu",
               [] { Device("gpu"); });
  for (const char* name : {"sim:", "sim:x", "sim:-1", "sim:1x", "sim:999", "sim:0000001"}) {
    expect_error("invalid-device-string", std::string("Invalid device string: '") + name + "'", [&] { Device{name}; });
  }
}

TEST(Device, HasOneHostAndTheCardsOfTheMachine) {
  AttachedCard cards(2);
  EXPECT_EQ(device_count(DeviceType::cpu), 1);
  EXPECT_EQ(device_count(DeviceType::sim), 2);
  EXPECT_EQ(resolve("cpu"), Device());
  EXPECT_EQ(resolve("sim"), Device("sim:0"));
}

TEST(Device, SaysWhichCardsThereAreWhenOneIsNot) {
  AttachedCard cards(2);
  const Error error = error_of([] { resolve("sim:2"); });
  EXPECT_EQ(error.code(), "invalid-device");
  EXPECT_EQ(error.why(), "this process has 2 device(s) of type sim, sim:0 to sim:1; sim:2 was asked for");
}

TEST(Device, GuardMakesADeviceCurrentForAScopeOnItsThreadOnly) {
  AttachedCard cards(2);
  {
    DeviceGuard guard("sim:1");
    EXPECT_EQ(resolve("sim"), Device("sim:1"));
    std::thread([] { EXPECT_EQ(current_device(DeviceType::sim), 0); }).join();
  }
  EXPECT_EQ(current_device(DeviceType::sim), 0);
}

TEST(Device, ForgetsTheCurrentCardOfAMachineThatIsGone) {
  {
    AttachedCard cards(2);
    set_current_device("sim:1");
    set_current_stream(Stream("sim:1", 3));
  }
  AttachedCard cards(2);
  EXPECT_EQ(current_device(DeviceType::sim), 0);
  EXPECT_EQ(current_stream("sim:1").id(), 0);
}

TEST(PickDevice, TakesWhatLabrigDeviceSays) {
  AttachedCard cards;
  const ForcedDevice forced("sim");
  EXPECT_EQ(pick_device(), Device("sim:0"));
}

TEST(PickDevice, ThrowsWhenLabrigDeviceIsNotThere) {
  AttachedCard cards;
  const ForcedDevice forced("sim:5");
  EXPECT_EQ(error_of([] { pick_device(); }).code(), "invalid-device");
}

TEST(PickDevice, TakesTheFirstCudaCardElseTheHost) {
  const Device expected = device_count(DeviceType::cuda) > 0 ? Device("cuda:0") : Device("cpu");
  EXPECT_EQ(pick_device(), expected);
}

TEST(Cuda, IsRefusedWithAReasonAndAWayOutWhereThereIsNone) {
  if (device_count(DeviceType::cuda) > 0) GTEST_SKIP() << "this machine has a CUDA card";
  expect_error("invalid-device", "No CUDA GPUs are available", [] { zeros({2}, Device("cuda")); });
}

TEST(Describe, IsOneLine) {
  const std::string text = describe("cpu");
  EXPECT_EQ(text.rfind("cpu: ", 0), 0u) << text;
  EXPECT_EQ(text.find('\n'), std::string::npos);
}

TEST(Stream, OfTheHostIsAlwaysDone) {
  const Stream stream;
  EXPECT_TRUE(stream.query());
  stream.synchronize();
  synchronize("cpu");
  EXPECT_EQ(current_stream("cpu"), stream);
}

TEST(Stream, GuardMakesAStreamCurrentForAScope) {
  AttachedCard card;
  const Stream stream = new_stream("sim");
  EXPECT_EQ(stream.device(), Device("sim:0"));
  EXPECT_NE(stream.id(), 0);
  {
    StreamGuard guard(stream);
    EXPECT_EQ(current_stream("sim"), stream);
    zeros({4}, Device("sim"));
  }
  EXPECT_EQ(current_stream("sim").id(), 0);
  ASSERT_EQ(card->launches.size(), 1u);
  EXPECT_EQ(card->launches[0].stream, stream.id());
}

TEST(Stream, GuardMakesItsDeviceCurrentToo) {
  AttachedCard cards(2);
  const Stream here = new_stream("sim:0"), there = new_stream("sim:1");
  set_current_stream(here);
  {
    const StreamGuard guard(there);
    EXPECT_EQ(resolve("sim"), Device("sim:1"));
    EXPECT_EQ(current_stream("sim"), there);
    EXPECT_EQ(current_stream("sim:0"), here);
  }
  EXPECT_EQ(resolve("sim"), Device("sim:0"));
  EXPECT_EQ(current_stream("sim"), here);
  EXPECT_EQ(current_stream("sim:1"), Stream("sim:1"));
}

TEST(Stream, IsCurrentOnItsOwnDeviceAndThreadOnly) {
  AttachedCard cards(2);
  const Stream stream = new_stream("sim:1");
  set_current_stream(stream);
  EXPECT_EQ(current_device(DeviceType::sim), 1);
  EXPECT_EQ(current_stream("sim:0"), Stream("sim:0"));
  std::thread([] {
    EXPECT_EQ(current_device(DeviceType::sim), 0);
    EXPECT_EQ(current_stream("sim:1"), Stream("sim:1"));
  }).join();
}

TEST(Stream, WaitsForAnotherStreamThroughAnEvent) {
  AttachedCard cards(2);
  const Stream first("sim:0", 2), second("sim:1", 3);
  second.wait_stream(first);
  EXPECT_EQ(cards->order, (std::vector<std::string>{"sim:0 record 1 in 2", "sim:1 wait for 1 of sim:0 in 3"}));
  EXPECT_EQ(cards->events, 0u);
  const Event event = first.record_event();
  first.wait_event(event);
  EXPECT_EQ(cards->order.back(), "sim:0 wait for 2 of sim:0 in 2");
  EXPECT_EQ(cards->events, 1u);
}

TEST(Event, TakesTheCurrentStreamOfItsDeviceByDefault) {
  AttachedCard cards(2);
  set_current_stream(Stream("sim:1", 6));
  Event event("sim:1");
  EXPECT_EQ(event.device(), Device("sim:1"));
  event.record();
  event.wait();
  EXPECT_EQ(cards->order, (std::vector<std::string>{"sim:1 record 1 in 6", "sim:1 wait for 1 of sim:1 in 6"}));
}

TEST(Event, HasNoTimeWithoutTiming) {
  AttachedCard card;
  Event first("sim"), second("sim", false);
  expect_error("event-without-timing", "Both events must be created with argument 'enable_timing=True'.",
               [&] { first.elapsed_ms(second); });
  expect_error("event-without-timing", "Both events must be created with argument 'enable_timing=True'.",
               [&] { second.elapsed_ms(first); });
}

TEST(Event, CannotBeWaitedForByADeviceOfAnotherType) {
  AttachedCard card;
  Event event("sim:0");
  event.record();
  expect_error("device-mismatch", "a stream of cpu cannot wait for an event of sim:0", [&] { event.wait(Stream()); });
}

TEST(Event, DoesNothingUntilItIsRecorded) {
  AttachedCard card;
  Event event("sim:0");
  EXPECT_TRUE(event.query());
  event.wait(Stream("sim:0"));
  event.synchronize();
  EXPECT_EQ(card.card().waits, 0);
  EXPECT_TRUE(card->syncs.empty());
  event.record(Stream("sim:0"));
  event.wait(Stream("sim"));
  EXPECT_EQ(card.card().waits, 1);
}

TEST(Event, RefusesToMeasureWhatWasNotRecorded) {
  AttachedCard card;
  Event first("sim"), second("sim");
  first.record(Stream("sim"));
  expect_error("event-not-ready", "Both events must be recorded before calculating elapsed time.",
               [&] { first.elapsed_ms(second); });
  second.record(Stream("sim"));
  EXPECT_EQ(first.elapsed_ms(second), 1.5);
}

TEST(Event, RefusesToBeRecordedInAStreamOfAnotherDeviceWithPyTorchsText) {
  AttachedCard cards(2);
  Event event("sim:0"), other("sim:1");
  expect_error("device-mismatch", "Event device 0 does not match recording stream's device 1.",
               [&] { event.record(Stream("sim:1")); });
  event.record();
  other.record();
  EXPECT_EQ(error_of([&] { event.elapsed_ms(other); }).code(), "device-mismatch");
}

TEST(Event, OutlivesItsCardWithoutHarm) {
  std::unique_ptr<Event> event;
  {
    AttachedCard card;
    event = std::make_unique<Event>("sim:0");
  }
  expect_error("device-gone", "sim:0 is gone, and with it the memory of this tensor",
               [&] { event->record(Stream("sim:0")); });
}

}  // namespace
}  // namespace labrig
