// The worker's half of the mode `late`, in the language of a submission: what pinned memory shows before it is waited
// for, and what the library does so that a program never fills the card with work nobody waits for.
#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "backends/sim/machine.hpp"
#include "labrig/ops.hpp"
#include "labrig/stream.hpp"

namespace labrig::sim {
namespace {

MachineOptions options_of(Mode mode, std::size_t cards = 1) {
  MachineOptions options;
  options.cards.assign(cards, load_profile(LABRIG_TEST_PROFILES "/desktop.toml").value());
  options.mode = mode;
  return options;
}

class LateMachine : public testing::Test {
 protected:
  InProcessMachine machine_{options_of(Mode::late)};
  Device card_{"sim"};
};

TEST_F(LateMachine, ADownloadShowsPoisonUntilItIsWaitedFor) {
  const Tensor there = full({256}, 3, card_);
  const Tensor host = there.to(Device("cpu"), true);
  const float* bytes = static_cast<const float*>(host.data_ptr());
  EXPECT_TRUE(std::isnan(bytes[0]));
  EXPECT_TRUE(std::isnan(bytes[255]));
  current_stream(card_).synchronize();
  EXPECT_EQ(bytes[0], 3.0F);
  EXPECT_EQ(machine_.report().metrics.hazards, 0u);
}

TEST_F(LateMachine, TheSourceOfAWaitingUploadIsNotPoisonedByADownload) {
  Tensor host = full({256}, 5).pin_memory();
  const Tensor there = empty({256}, card_), other = full({256}, 6, card_);
  there.copy_(host, true);
  host.copy_(other, true);  // on the same stream: after the upload
  current_stream(card_).synchronize();
  EXPECT_EQ(there.cpu().data<float>()[0], 5.0F);
  EXPECT_EQ(host.data<float>()[0], 6.0F);
  EXPECT_EQ(machine_.report().metrics.hazards, 0u);
}

TEST_F(LateMachine, ABlockingUploadShowsTheDownloadsBeforeIt) {
  const Tensor there = full({256}, 7, card_), small = empty({4}, card_);
  const Tensor host = there.to(Device("cpu"), true);
  small.copy_(full({4}, 1));
  EXPECT_EQ(static_cast<const float*>(host.data_ptr())[9], 7.0F);
}

TEST_F(LateMachine, AProgramThatNeverWaitsRunsOn) {
  const Tensor x = full({4}, 0, card_), one = full({4}, 1, card_);
  constexpr int kMany = 50'000;  // more than the card would hold
  for (int i = 0; i < kMany; ++i) add_(x, one);
  EXPECT_EQ(x.cpu().data<float>()[0], static_cast<float>(kMany));
  const Report report = machine_.report();
  EXPECT_EQ(report.violation_text, "");
  EXPECT_EQ(report.metrics.syncs_implicit, 0u) << "a throttle is not counted and takes no time";
}

TEST_F(LateMachine, StreamsComeFromAPoolOfThirtyTwo) {
  std::set<std::uint16_t> ids;
  const Stream first = new_stream(card_);
  ids.insert(first.id());
  for (int i = 1; i < 32; ++i) ids.insert(new_stream(card_).id());
  EXPECT_EQ(ids.size(), 32u);
  EXPECT_EQ(ids.count(0), 0u) << "the default stream is not one of them";
  EXPECT_EQ(new_stream(card_), first);
  EXPECT_EQ(machine_.report().violation_code, "");
}

TEST(BothModes, HaveTheSameMetricsForTheSameProgram) {
  const auto metrics = [](Mode mode) {
    InProcessMachine machine(options_of(mode));
    const Device card("sim");
    const Stream side = new_stream(card);
    const Tensor x = full({64, 64}, 1, card);
    const Tensor host = full({64, 64}, 2).pin_memory();
    x.copy_(host, true);
    {
      const StreamGuard guard(side);
      const Tensor back = matmul(x, x).to(Device("cpu"), true);  // a race with the upload
      side.synchronize();
    }
    synchronize(card);
    return machine.report().metrics;
  };
  EXPECT_EQ(metrics(Mode::late), metrics(Mode::eager));
  EXPECT_EQ(metrics(Mode::late).hazards, 2u) << "with the fill and with the upload";
}

}  // namespace
}  // namespace labrig::sim
