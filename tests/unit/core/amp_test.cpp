// labrig::amp: autocast regions, on the host and on a simulated card. That the lists are PyTorch's: `labrig conform
// autocast`.
#include "labrig/amp.hpp"

#include <gtest/gtest.h>

#include <thread>

#include "backends/sim/machine.hpp"
#include "expect_error.hpp"
#include "labrig/autograd.hpp"
#include "labrig/ops.hpp"
#include "labrig/stream.hpp"

namespace labrig::amp {
namespace {

using test::error_of;
using test::expect_error;

constexpr DeviceType cpu = DeviceType::cpu, card = DeviceType::sim;

Tensor matrix(double value = 1, Options options = {}) { return full({2, 2}, value, options); }

TEST(Autocast, CastsTheInputsOfProductsToTheLowType) {
  EXPECT_EQ(mm(matrix(), matrix()).dtype(), kF32);
  {
    const AutocastGuard guard(cpu);
    EXPECT_EQ(mm(matrix(), matrix()).dtype(), kBF16);
    EXPECT_EQ(mm(matrix(1, kF16), matrix()).dtype(), kBF16);
  }
  {
    const AutocastGuard guard(cpu, kF16);
    EXPECT_EQ(mm(matrix(), matrix()).dtype(), kF16);
  }
  EXPECT_EQ(mm(matrix(), matrix()).dtype(), kF32);
}

TEST(Autocast, LeavesF64AndUnlistedOperatorsAlone) {
  const AutocastGuard guard(cpu);
  EXPECT_EQ(mm(matrix(1, kF64), matrix(1, kF64)).dtype(), kF64);
  EXPECT_EQ(add(matrix(), matrix()).dtype(), kF32);
  EXPECT_EQ(add(matrix(1, kBF16), matrix()).dtype(), kF32);
  EXPECT_EQ(relu(matrix(1, kBF16)).dtype(), kBF16);
}

TEST(Autocast, HasAnotherListOnTheHostThanOnACard) {
  sim::MachineOptions options;
  options.cards = {sim::load_profile(LABRIG_TEST_PROFILES "/desktop.toml").value()};
  const sim::InProcessMachine machine(options);
  const Options there(kF16, Device("sim"));
  const AutocastGuard on_cards(card), on_host(cpu, kF16);
  EXPECT_EQ(exp(matrix(1, there)).dtype(), kF32);
  EXPECT_EQ(exp(matrix(1, kF16)).dtype(), kF16);
  EXPECT_EQ(sum(matrix(1, there)).dtype(), kF32);
  EXPECT_EQ(cat({matrix(1, kF16), matrix()}).dtype(), kF32);
}

TEST(Autocast, ConcernsOnlyTheDeviceTypeOfItsRegion) {
  const AutocastGuard guard(card);
  EXPECT_EQ(mm(matrix(), matrix()).dtype(), kF32);
}

TEST(Autocast, RegionsNestAndTheInnerOneDecidesForItsDeviceType) {
  EXPECT_FALSE(is_autocast_enabled(cpu));
  const AutocastGuard outer(cpu, kF16);
  {
    const AutocastGuard off(cpu, false);
    EXPECT_FALSE(is_autocast_enabled(cpu));
    EXPECT_EQ(mm(matrix(), matrix()).dtype(), kF32);
    const AutocastGuard on_again(cpu, kBF16);
    EXPECT_EQ(mm(matrix(), matrix()).dtype(), kBF16);
  }
  {
    const AutocastGuard other(card);
    EXPECT_TRUE(is_autocast_enabled(cpu));
    EXPECT_EQ(autocast_dtype(cpu), kF16);
    EXPECT_EQ(autocast_dtype(card), kF16);
  }
  EXPECT_FALSE(is_autocast_enabled(card));
  EXPECT_EQ(mm(matrix(), matrix()).dtype(), kF16);
}

TEST(Autocast, BelongsToItsThread) {
  const AutocastGuard guard(cpu);
  std::thread([] {
    EXPECT_FALSE(is_autocast_enabled(cpu));
    EXPECT_EQ(mm(matrix(), matrix()).dtype(), kF32);
  }).join();
}

TEST(Autocast, LeavesAThirtyTwoBitGradientOnThirtyTwoBitWeights) {
  const Tensor weight = matrix(3);
  weight.requires_grad_();
  Tensor loss;
  {
    const AutocastGuard guard(cpu);
    loss = sum(mm(matrix(2), weight));
  }
  loss.backward();
  EXPECT_EQ(weight.grad().dtype(), kF32);
  EXPECT_EQ(weight.grad().data<const float>()[0], 4);
}

TEST(Autocast, TakesNoOtherTypesThanThoseOfSixteenBits) {
  expect_error("autocast-dtype", "Autocast only supports dtype of torch.bfloat16, torch.float16 currently.",
               [] { const AutocastGuard guard(cpu, kF64); });
  const AutocastGuard off(cpu, kF64, false);
  EXPECT_FALSE(is_autocast_enabled(cpu));
}

// --- the weight cache -----------------------------------------------------------------------------------------------

class WeightCache : public testing::Test {
 protected:
  // Kernels that a call launches.
  template <class Call>
  std::uint64_t launches_of(Call&& call) {
    synchronize();
    const std::uint64_t before = machine_.report().metrics.launches;
    call();
    synchronize();
    return machine_.report().metrics.launches - before;
  }
  Tensor weight() const {
    Tensor made = matrix(2, device_);
    made.requires_grad_();
    return made;
  }
  static sim::MachineOptions one_card() {
    sim::MachineOptions options;
    options.cards = {sim::load_profile(LABRIG_TEST_PROFILES "/desktop.toml").value()};
    return options;
  }
  static void synchronize() { labrig::synchronize(Device("sim")); }

  sim::InProcessMachine machine_{one_card()};
  Device device_{"sim"};
  Tensor low_ = matrix(1, Options(kF16, device_)), w_ = weight();
};

TEST_F(WeightCache, CastsAWeightOnceUntilTheOutermostRegionEnds) {
  for (int i = 0; i < 2; ++i) {
    const AutocastGuard guard(card);
    EXPECT_EQ(launches_of([&] { mm(low_, w_); }), 2u) << "a cast and a product";
    EXPECT_EQ(launches_of([&] { mm(low_, w_); }), 1u);
    {
      const AutocastGuard inner(card);
      EXPECT_EQ(launches_of([&] { mm(low_, w_); }), 1u);
    }
    EXPECT_EQ(launches_of([&] { mm(low_, w_); }), 1u) << "an inner region leaves the cache alone";
  }
}

TEST_F(WeightCache, KeepsOnlyLeavesThatRequireAGradientAndAreNoViews) {
  const AutocastGuard guard(card);
  const Tensor plain = matrix(2, device_), derived = mul(w_, 2), view = w_.detach().t();
  for (const Tensor& other : {plain, derived, view}) {
    EXPECT_EQ(launches_of([&] { mm(low_, other); }), 2u);
    EXPECT_EQ(launches_of([&] { mm(low_, other); }), 2u);
  }
}

TEST_F(WeightCache, CanBeSwitchedOff) {
  const AutocastGuard guard(card, true, false);
  EXPECT_EQ(launches_of([&] { mm(low_, w_); }), 2u);
  EXPECT_EQ(launches_of([&] { mm(low_, w_); }), 2u);
}

TEST_F(WeightCache, DoesNotTakeANewWeightForOneThatIsGone) {
  const AutocastGuard guard(card);
  for (int i = 0; i < 4; ++i) {
    Tensor next = full({2, 2}, i, device_);
    next.requires_grad_();
    EXPECT_EQ(mm(low_, next).cpu().to(kF32).data<const float>()[0], static_cast<float>(2 * i));
  }
}

TEST_F(WeightCache, FindsTheWayBackAlsoWhenTheFirstUseNotesNone) {
  const AutocastGuard guard(card);
  {
    const NoGradGuard no_grad;
    EXPECT_FALSE(mm(low_, w_).requires_grad());
  }
  sum(mm(low_, w_)).backward();
  ASSERT_TRUE(w_.grad().defined());
  EXPECT_EQ(w_.grad().cpu().data<const float>()[0], 2);
}

// --- the table ------------------------------------------------------------------------------------------------------

TEST(Policy, IsPyTorchs) {
  EXPECT_EQ(policy("matmul", card), Policy::lower);
  EXPECT_EQ(policy("exp", card), Policy::f32);
  EXPECT_EQ(policy("exp", cpu), Policy::unlisted);
  EXPECT_EQ(policy("sum", card), Policy::f32_output);
  EXPECT_EQ(policy("mean", card), Policy::unlisted);
  EXPECT_EQ(policy("dot", card), Policy::widest);
  EXPECT_EQ(policy("cat", cpu), Policy::widest);
  EXPECT_EQ(policy("cat", card), Policy::unlisted);
  EXPECT_EQ(policy("binary_cross_entropy", card), Policy::banned);
  EXPECT_EQ(policy("binary_cross_entropy", cpu), Policy::f32);
  EXPECT_EQ(policy("no_such_operator", card), Policy::unlisted);
  EXPECT_STREQ(name_of(Policy::banned), "banned");
}

TEST(Policy, TellsTheTypeOfAResult) {
  EXPECT_EQ(result_dtype("mm", kF16, kF32, kF16), kF16);
  EXPECT_EQ(result_dtype("mm", kF16, kF64, kF64), kF64);
  EXPECT_EQ(result_dtype("mm", kF16, kBF16, kF32), kF16);
  EXPECT_EQ(result_dtype("exp", kF16, kF16, kF32), kF32);
  EXPECT_EQ(result_dtype("exp", kBF16, kBF16, kF32, cpu), kBF16);
  EXPECT_EQ(result_dtype("mean", kF16, kF16, kF32), kF16);
  EXPECT_EQ(result_dtype("add", kF16, kF16, kF32), kF32);
  EXPECT_EQ(result_dtype("dot", kF16, kF16, kF16), kF16);
  EXPECT_EQ(result_dtype("lt", kF16, kF16, kF32), kBool);
  expect_error("banned-under-autocast",
               "torch.nn.functional.binary_cross_entropy and torch.nn.BCELoss are unsafe to autocast.",
               [] { result_dtype("bce", kF16, kF32, kF32); });
  EXPECT_EQ(error_of([] { result_dtype("mm", kF16, kF64, kF32); }).code(), "dtype-mismatch");
  expect_error("dtype-mismatch", "Unexpected floating ScalarType in at::autocast::prioritize",
               [] { result_dtype("dot", kF16, kBF16, kBF16); });
}

}  // namespace
}  // namespace labrig::amp
