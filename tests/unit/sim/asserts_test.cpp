// What a card finds wrong only when a kernel runs: an index out of range stops it, in both modes and both homes, and a
// card without bf16 computes nothing in it.
#include <gtest/gtest.h>

#include <functional>

#include "backends/sim/machine.hpp"
#include "labrig/error.hpp"
#include "labrig/ops.hpp"
#include "labrig/stream.hpp"
#include "test_worker.hpp"

namespace labrig::sim {
namespace {

MachineOptions options_of(Mode mode, const char* profile = "desktop", bool data = true) {
  MachineOptions options;
  options.cards = {load_profile(LABRIG_TEST_PROFILES "/" + std::string(profile) + ".toml").value()};
  options.mode = mode;
  options.data = data;
  return options;
}

Tensor ids(const std::vector<std::int64_t>& values) {
  return tensor<std::int64_t>(values).set_name("ids").to(Device("sim"));
}
Tensor table() { return full({4, 2}, 1, Device("sim")).set_name("table"); }

template <class Call>
Error error_of(Call&& call) {
  try {
    call();
  } catch (const Error& error) {
    return error;
  }
  return Error("none", "none", "none", "none");
}

constexpr const char* kWhy =
    "kernel 'index(table, ids)', launch 2, on sim:0, stream 0, met an index out of range: number 1 of operand 2 is 4, "
    "and allowed are 0 to 3; kernels run after the call that launched them has returned, so an earlier line than this "
    "one is wrong";

class Assert : public testing::TestWithParam<Mode> {};

TEST_P(Assert, SaysWhichKernelMetWhichIndexWhenTheCardIsWaitedFor) {
  InProcessMachine machine(options_of(GetParam()));
  const Tensor weight = table(), words = ids({3, 4, 0});
  Tensor out;
  ASSERT_NO_THROW(out = embedding(words, weight));
  const Error error = error_of([] { current_stream(Device("sim")).synchronize(); });
  EXPECT_EQ(error.code(), "device-assert");
  EXPECT_STREQ(error.what(), "CUDA error: device-side assert triggered");
  EXPECT_EQ(error.why(), kWhy);
  EXPECT_NE(error.fix().find("on the CPU"), std::string::npos);
  EXPECT_EQ(machine.report().violation_code, "device-assert");
}

TEST_P(Assert, StaysAsOnACard) {
  InProcessMachine machine(options_of(GetParam()));
  const Tensor weight = table();
  const Tensor out = index(weight, {ids({-5})});
  const auto fetch = [&] { return error_of([&] { weight.cpu(); }); };
  EXPECT_EQ(fetch().code(), "device-assert");
  EXPECT_NE(fetch().why().find("is -5, and allowed are -4 to 3"), std::string::npos) << fetch().why();
}

TEST_P(Assert, DoesNotComeForIndicesThatFit) {
  InProcessMachine machine(options_of(GetParam()));
  EXPECT_EQ(index(table(), {ids({-4, 3})}).cpu().sizes(), Dims({2, 2}));
  EXPECT_EQ(machine.report().violation_code, "");
}

// Bytes that nobody has written are the card's own poison (-1): that a program reads them is another finding.
TEST_P(Assert, DoesNotComeForIndicesThatTheCardMadeUp) {
  InProcessMachine machine(options_of(GetParam()));
  const Tensor never_written = empty({2}, {kI64, Device("sim")});
  embedding(never_written, table());
  current_stream(Device("sim")).synchronize();
  EXPECT_EQ(machine.report().violation_code, "");
  EXPECT_FALSE(machine.report().notes.empty());
}

TEST_P(Assert, ComesInACardOfItsOwn) {
  CardProcess card(LABRIG_TEST_DEVICE, options_of(GetParam()));
  Worker(card, "assert").wait();
  const auto report = card.report(10'000);
  ASSERT_TRUE(report.has_value());
  EXPECT_EQ(report->violation_code, "device-assert");
  EXPECT_NE(report->violation_text.find(kWhy), std::string::npos) << report->violation_text;
}

INSTANTIATE_TEST_SUITE_P(BothModes, Assert, testing::Values(Mode::eager, Mode::late),
                         [](const auto& mode) { return mode.param == Mode::eager ? "Eager" : "Late"; });

TEST(CostOnly, LooksAtNoIndex) {
  InProcessMachine machine(options_of(Mode::eager, "desktop", false));
  const Tensor out = embedding(empty({3}, {kI64, Device("sim")}), table());
  current_stream(Device("sim")).synchronize();
  EXPECT_EQ(machine.report().violation_code, "");
}

TEST(ACardWithoutBf16, StoresAndCopiesItAndComputesNothing) {
  InProcessMachine machine(options_of(Mode::eager, "t4"));
  const Tensor x = full({2, 2}, 1.5, {kBF16, Device("sim")});
  EXPECT_EQ(x.to(kF32).cpu().data<float>()[3], 1.5F);
  EXPECT_EQ(index(x, {ids({1})}).cpu().to(kF32).data<float>()[0], 1.5F);
  for (const auto& call : {std::function<void()>([&] { matmul(x, x); }), std::function<void()>([&] { add(x, x); })}) {
    const Error error = error_of(call);
    EXPECT_EQ(error.code(), "no-bf16");
    EXPECT_NE(std::string(error.what()).find("bf16 on sim:0"), std::string::npos) << error.what();
    EXPECT_NE(error.why().find("t4 has compute capability 7.5"), std::string::npos) << error.why();
    EXPECT_NE(error.fix().find("f16"), std::string::npos);
  }
  EXPECT_NO_THROW(matmul(x.to(kF16), x.to(kF16)));
}

TEST(ACardWithBf16, ComputesInIt) {
  InProcessMachine machine(options_of(Mode::eager));
  const Tensor x = full({2, 2}, 1.5, {kBF16, Device("sim")});
  EXPECT_EQ(matmul(x, x).to(kF32).cpu().data<float>()[0], 4.5F);
}

}  // namespace
}  // namespace labrig::sim
