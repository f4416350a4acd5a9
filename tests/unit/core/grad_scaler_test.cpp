// labrig::amp::GradScaler, on the host and on a simulated card. Rows recorded from PyTorch: `labrig conform
// grad_scaler`.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "backends/sim/machine.hpp"
#include "expect_error.hpp"
#include "labrig/amp.hpp"
#include "labrig/ops.hpp"
#include "labrig/optim.hpp"

namespace labrig::amp {
namespace {

using test::expect_error;

constexpr double kInf = std::numeric_limits<double>::infinity();

// One parameter of ones, SGD with rate 0.1, a loss whose gradients are all 1 before they are scaled.
struct Training {
  explicit Training(GradScalerOptions options = {}, Options where = {}) : scaler(options) {
    parameter = ones({4}, where);
    parameter.requires_grad_();
    optimizer = std::make_unique<optim::SGD>(std::vector{parameter}, optim::SgdOptions{.lr = 0.1});
  }
  void backward(double planted = 0) {
    optimizer->zero_grad();
    scaler.scale(sum(parameter)).backward();
    if (planted != 0) parameter.grad().slice(0, 0, 1).fill_(planted);
  }
  bool iterate(double planted = 0) {
    backward(planted);
    const bool stepped = scaler.step(*optimizer);
    scaler.update();
    return stepped;
  }
  double first() const { return parameter.detach().cpu().to(kF64).data<const double>()[0]; }

  GradScaler scaler;
  Tensor parameter;
  std::unique_ptr<optim::SGD> optimizer;
};

TEST(GradScaler, ScalesTheLossAndStepsWithTheGradientsUnscaled) {
  Training training;
  EXPECT_EQ(training.scaler.get_scale(), 65536) << "before there is a tensor";
  training.backward();
  EXPECT_EQ(training.parameter.grad().data<const float>()[0], 65536);
  EXPECT_TRUE(training.scaler.step(*training.optimizer));
  EXPECT_EQ(training.parameter.grad().data<const float>()[0], 1);
  EXPECT_FLOAT_EQ(static_cast<float>(training.first()), 0.9f);
}

TEST(GradScaler, SkipsAStepAndBacksOffWhereAGradientIsNotFinite) {
  Training training;
  for (const double planted : {kInf, -kInf, std::nan("")}) EXPECT_FALSE(training.iterate(planted));
  EXPECT_EQ(training.first(), 1);
  EXPECT_EQ(training.scaler.get_scale(), 8192);
}

TEST(GradScaler, GrowsAfterARowOfGoodSteps) {
  Training training({.growth_interval = 3});
  training.iterate(), training.iterate();
  EXPECT_EQ(training.scaler.get_growth_tracker(), 2);
  training.iterate(kInf);
  EXPECT_EQ(training.scaler.get_growth_tracker(), 0) << "an overflow starts the row again";
  for (int i = 0; i < 3; ++i) training.iterate();
  EXPECT_EQ(training.scaler.get_scale(), 65536);
  EXPECT_EQ(training.scaler.get_growth_tracker(), 0);
}

// AMP-1: pytorch#98828. The scale grows only while the result is finite in f32.
TEST(GradScaler, StopsGrowingAtTheLargestPowerOfTwo) {
  Training training({.growth_interval = 1});
  for (int i = 0; i < 111; ++i) ASSERT_TRUE(training.iterate());
  EXPECT_EQ(training.scaler.get_scale(), 0x1p127);
  for (int i = 111; i < 150; ++i) ASSERT_TRUE(training.iterate());
  EXPECT_EQ(training.scaler.get_scale(), 0x1p127);
  EXPECT_EQ(training.scaler.get_growth_tracker(), 0);
}

TEST(GradScaler, ReachesOneAfterSixteenOverflowsAndHasNoLowerBound) {
  Training training;
  for (int i = 0; i < 16; ++i) training.iterate(kInf);
  EXPECT_EQ(training.scaler.get_scale(), 1);
  training.iterate(kInf);
  EXPECT_EQ(training.scaler.get_scale(), 0.5);
}

TEST(GradScaler, BacksOffForAllOptimizersWhereOneOverflows) {
  Training training;
  Tensor other = ones({4});
  other.requires_grad_();
  optim::SGD second(std::vector{other}, optim::SgdOptions{.lr = 0.1});
  training.optimizer->zero_grad();
  training.scaler.scale(sum(add(training.parameter, other))).backward();
  training.parameter.grad().fill_(kInf);
  EXPECT_FALSE(training.scaler.step(*training.optimizer));
  EXPECT_TRUE(training.scaler.step(second));
  training.scaler.update();
  EXPECT_EQ(training.scaler.get_scale(), 32768);
}

TEST(GradScaler, PassesEverythingThroughWhenItIsNotEnabled) {
  Training training({.growth_factor = 0, .enabled = false});
  EXPECT_TRUE(training.iterate(kInf)) << "nobody looks";
  EXPECT_TRUE(std::isinf(training.first()));
  EXPECT_EQ(training.scaler.get_scale(), 1);
  EXPECT_TRUE(training.scaler.state_dict().empty());
  training.scaler.unscale_(*training.optimizer);
  training.scaler.load_state_dict({});
}

TEST(GradScaler, TakesANewScaleFromOutside) {
  Training training;
  training.iterate();
  training.scaler.update(128);
  EXPECT_EQ(training.scaler.get_scale(), 128);
  training.scaler.update(full({1}, 256));
  EXPECT_EQ(training.scaler.get_scale(), 256);
  const std::string what =
      "new_scale should be a float or a 1-element torch.cuda.FloatTensor or torch.FloatTensor with "
      "requires_grad=False.";
  for (const Tensor& wrong : {ones({2}), ones({1}, kF64)})
    expect_error("invalid-argument", what, [&] { training.scaler.update(wrong); });
}

TEST(GradScaler, GoesOnFromAState) {
  Training training({.growth_interval = 10});
  training.iterate(kInf), training.iterate(), training.iterate();
  const GradScaler::State state = training.scaler.state_dict();
  EXPECT_EQ(state, (GradScaler::State{{"scale", 32768},
                                      {"growth_factor", 2},
                                      {"backoff_factor", 0.5},
                                      {"growth_interval", 10},
                                      {"_growth_tracker", 2}}));
  Training fresh, used;
  used.iterate();
  for (Training* other : {&fresh, &used}) {
    other->scaler.load_state_dict(state);
    EXPECT_EQ(other->scaler.state_dict(), state);
    for (int i = 0; i < 8; ++i) other->iterate();
    EXPECT_EQ(other->scaler.get_scale(), 65536);
  }
}

TEST(GradScaler, RefusesAStateThatIsEmptyOrIncomplete) {
  Training training;
  expect_error("empty-scaler-state",
               "The source state dict is empty, possibly because it was saved from a disabled instance of GradScaler.",
               [&] { training.scaler.load_state_dict({}); });
  expect_error("missing-key", "Missing key in the state of GradScaler: _growth_tracker",
               [&] { training.scaler.load_state_dict({{"scale", 1}}); });
  EXPECT_EQ(training.scaler.get_scale(), 65536) << "nothing has changed";
}

TEST(GradScaler, RefusesFactorsThatMakeNoSense) {
  expect_error("invalid-argument", "The growth factor must be > 1.0.", [] { GradScaler({.growth_factor = 1}); });
  expect_error("invalid-argument", "The backoff factor must be < 1.0.", [] { GradScaler({.backoff_factor = 1}); });
}

TEST(GradScaler, SaysInPyTorchsWordsWhichCallIsOutOfOrder) {
  const std::string no_scale =
      " but _scale is None.  This may indicate your script did not use scaler.scale(loss or outputs) earlier in the "
      "iteration.";
  Training training;
  GradScaler& scaler = training.scaler;
  optim::SGD& optimizer = *training.optimizer;
  expect_error("scaler-order", "Attempted unscale_" + no_scale, [&] { scaler.unscale_(optimizer); });
  expect_error("scaler-order", "Attempted step" + no_scale, [&] { scaler.step(optimizer); });
  expect_error("scaler-order", "Attempted update" + no_scale, [&] { scaler.update(); });
  training.backward();
  expect_error("scaler-order", "No inf checks were recorded prior to update.", [&] { scaler.update(); });
  scaler.unscale_(optimizer);
  expect_error("scaler-order", "unscale_() has already been called on this optimizer since the last update().",
               [&] { scaler.unscale_(optimizer); });
  scaler.step(optimizer);
  expect_error("scaler-order", "unscale_() is being called after step().", [&] { scaler.unscale_(optimizer); });
  expect_error("scaler-order", "step() has already been called since the last update().",
               [&] { scaler.step(optimizer); });
  scaler.update();
  optimizer.zero_grad();
  expect_error("scaler-order", "No inf checks were recorded for this optimizer.", [&] { scaler.step(optimizer); });
}

TEST(GradScaler, RefusesGradientsInF16) {
  Training training({}, kF16);
  training.parameter.set_name("fc.weight");
  training.backward();
  expect_error("f16-gradients", "Attempting to unscale FP16 gradients.",
               [&] { training.scaler.unscale_(*training.optimizer); });
}

// --- on a card ------------------------------------------------------------------------------------------------------

sim::MachineOptions two_cards() {
  sim::MachineOptions options;
  options.cards.resize(2, sim::load_profile(LABRIG_TEST_PROFILES "/desktop.toml").value());
  return options;
}

TEST(GradScaler, WaitsForTheCardInStepAndNowhereElse) {
  sim::InProcessMachine machine(two_cards());
  Training training({}, Device("sim"));
  const auto syncs = [&] {
    const sim::Metrics metrics = machine.report().metrics;
    return std::pair(metrics.syncs_value, metrics.syncs_explicit + metrics.syncs_copy);
  };
  training.iterate();
  const auto before = syncs();
  training.backward();
  training.scaler.unscale_(*training.optimizer);
  EXPECT_EQ(syncs(), before);
  training.scaler.step(*training.optimizer);
  EXPECT_EQ(syncs(), std::pair(before.first + 1, before.second));
  training.scaler.update();
  EXPECT_EQ(syncs(), std::pair(before.first + 1, before.second));
  EXPECT_EQ(machine.report().metrics.hazards, 0u);
}

TEST(GradScaler, CountsAnOverflowOnAnotherCardThanTheScales) {
  sim::InProcessMachine machine(two_cards());
  Training training({}, Device("sim:0"));
  Tensor other = ones({4}, Device("sim:1"));
  other.requires_grad_();
  optim::SGD both(std::vector{training.parameter, other}, optim::SgdOptions{.lr = 0.1});
  for (const auto& [planted, scale] : {std::pair(1.0, 65536.0), std::pair(kInf, 32768.0)}) {
    both.zero_grad();
    for (const Tensor& loss : training.scaler.scale({sum(training.parameter), sum(other)})) loss.backward();
    mul_(other.grad(), planted);
    EXPECT_EQ(training.scaler.step(both), std::isfinite(planted));
    training.scaler.update();
    EXPECT_EQ(training.scaler.get_scale(), scale);
  }
  EXPECT_EQ(machine.report().metrics.hazards, 0u);
}

}  // namespace
}  // namespace labrig::amp
