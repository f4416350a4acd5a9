// The steps of training against PyTorch's formulas written down once more, in float64 and scalar by scalar; the values
// that PyTorch recorded are compared by `labrig conform optimizers` and `grad_scaler`.
#include "ops/step.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "expect_error.hpp"
#include "fake_card.hpp"
#include "labrig/ops.hpp"
#include "labrig/random.hpp"

namespace labrig {
namespace {

using test::expect_error;

std::vector<double> values_of(const Tensor& tensor) {
  const Tensor host = tensor.cpu().to(kF64).contiguous();
  const auto data = host.data<const double>();
  return {data.begin(), data.end()};
}

Tensor random_values(const Dims& sizes, std::uint64_t seed, Dtype dtype = kF64) {
  Generator generator{seed};
  return randn(sizes, dtype, &generator);
}

TEST(SgdStep, FollowsPyTorchsFormulas) {
  for (const SgdStep& step : {SgdStep{.lr = 0.1}, SgdStep{.lr = 0.1, .weight_decay = 0.2},
                              SgdStep{.lr = 0.1, .momentum = 0.9, .dampening = 0.3, .weight_decay = 0.01},
                              SgdStep{.lr = 0.1, .momentum = 0.9, .nesterov = true}}) {
    const Tensor parameter = random_values({6}, 1), buffer = step.momentum != 0 ? zeros({6}, kF64) : Tensor();
    std::vector<double> expected = values_of(parameter), momentum(6);
    for (int n = 0; n < 5; ++n) {
      const Tensor gradient = random_values({6}, 10 + static_cast<std::uint64_t>(n));
      SgdStep now = step;
      now.first = n == 0;
      sgd_step(parameter, buffer, gradient, now);
      const std::vector<double> slopes = values_of(gradient);
      for (std::size_t i = 0; i < 6; ++i) {
        double change = slopes[i] + step.weight_decay * expected[i];
        if (step.momentum != 0) {
          momentum[i] = n == 0 ? change : step.momentum * momentum[i] + (1 - step.dampening) * change;
          change = step.nesterov ? change + step.momentum * momentum[i] : momentum[i];
        }
        expected[i] -= step.lr * change;
      }
    }
    const std::vector<double> values = values_of(parameter);
    for (std::size_t i = 0; i < 6; ++i) EXPECT_NEAR(values[i], expected[i], 1e-14);
  }
}

TEST(AdamStep, FollowsPyTorchsFormulas) {
  for (const AdamStep& step :
       {AdamStep{.lr = 0.01}, AdamStep{.lr = 0.01, .weight_decay = 0.1},
        AdamStep{.lr = 0.01, .beta1 = 0.3, .beta2 = 0.99, .weight_decay = 0.1, .decoupled = true}}) {
    const Tensor parameter = random_values({2, 3}, 1), average = zeros({2, 3}, kF64), squares = zeros({2, 3}, kF64);
    std::vector<double> expected = values_of(parameter), m(6), v(6);
    for (int n = 1; n <= 5; ++n) {
      const Tensor gradient = random_values({3, 2}, 10 + static_cast<std::uint64_t>(n)).t();
      AdamStep now = step;
      now.step = n;
      adam_step(parameter, average, squares, gradient, now);
      const std::vector<double> slopes = values_of(gradient);
      for (std::size_t i = 0; i < 6; ++i) {
        double slope = slopes[i];
        if (step.decoupled)
          expected[i] *= 1 - step.lr * step.weight_decay;
        else
          slope += step.weight_decay * expected[i];
        m[i] = step.beta1 * m[i] + (1 - step.beta1) * slope;
        v[i] = step.beta2 * v[i] + (1 - step.beta2) * slope * slope;
        const double mean = m[i] / (1 - std::pow(step.beta1, n)), square = v[i] / (1 - std::pow(step.beta2, n));
        expected[i] -= step.lr * mean / (std::sqrt(square) + step.eps);
      }
    }
    const std::vector<double> values = values_of(parameter);
    for (std::size_t i = 0; i < 6; ++i) EXPECT_NEAR(values[i], expected[i], 1e-13);
  }
}

TEST(AdamStep, LosesEpsInF16AsPyTorchDoes) {
  const Tensor parameter = ones({2}, kF16), average = zeros({2}, kF16), squares = zeros({2}, kF16);
  const Tensor gradient = zeros({2}, kF16);
  adam_step(parameter, average, squares, gradient, {});
  for (const double value : values_of(parameter)) EXPECT_TRUE(std::isnan(value)) << "0 / (0 + eps) with eps = 0";
  const Tensor wide = ones({2});
  adam_step(wide, zeros({2}), zeros({2}), zeros({2}), {});
  EXPECT_EQ(values_of(wide), (std::vector<double>{1, 1}));
}

TEST(Steps, TakeEveryFloatTypeAndCountTheChange) {
  for (const Dtype dtype : {kF32, kF64, kF16, kBF16}) {
    const Tensor parameter = full({3}, 1, dtype), buffer = zeros({3}, dtype), gradient = full({3}, 0.5, dtype);
    const std::uint32_t before = parameter.version();
    sgd_step(parameter, buffer, gradient, {.lr = 0.5, .momentum = 0.5, .first = true});
    EXPECT_EQ(parameter[1].item(), 0.75) << name_of(dtype);
    EXPECT_EQ(buffer[1].item(), 0.5);
    EXPECT_EQ(parameter.version(), before + 1);
  }
}

TEST(Steps, RefuseStateThatDoesNotBelongToTheParameter) {
  test::AttachedCard card;
  const Tensor parameter = zeros({2}, Device("sim:0")), here = zeros({2});
  const char* const text =
      "Expected all tensors to be on the same device, but found at least two devices, sim:0 and cpu!";
  expect_error("device-mismatch", text, [&] { sgd_step(parameter, here, parameter, {}); });
  const Tensor number = zeros({}, Device("sim:0"));
  expect_error("device-mismatch", text, [&] { adam_step(number, number, zeros({}), number, {}); });
  EXPECT_EQ(test::error_of([&] { sgd_step(here, {}, zeros({3}), {}); }).code(), "shape-mismatch");
  EXPECT_EQ(test::error_of([&] { sgd_step(here, {}, zeros({2}, kF16), {}); }).code(), "dtype-mismatch");
  EXPECT_EQ(test::error_of([&] { amp_unscale(here, zeros({1}), zeros({})); }).code(), "dtype-mismatch");
}

TEST(AmpUnscale, MultipliesAndFindsWhatIsNotFinite) {
  const Tensor found = zeros({}), inverse = full({}, 0.25);
  const Tensor gradient = tensor<float>({4, 8, 12});
  amp_unscale(gradient, found, inverse);
  EXPECT_EQ(values_of(gradient), (std::vector<double>{1, 2, 3}));
  EXPECT_EQ(found.item(), 0);
  const float infinity = std::numeric_limits<float>::infinity();
  for (const float bad : {infinity, -infinity, NAN}) {
    found.zero_();
    amp_unscale(tensor<float>({1, bad}).to(kF16), found, inverse);
    EXPECT_EQ(found.item(), 1);
    amp_unscale(gradient, found, full({}, 1));
    EXPECT_EQ(found.item(), 1) << "what another gradient has found stays";
  }
  EXPECT_EQ(values_of(gradient), (std::vector<double>{1, 2, 3}));
}

// What a scaler does in one update.
struct Scaler {
  Tensor scale, tracker = zeros({}, kI32), found = zeros({});
  explicit Scaler(double start) : scale(full({}, start)) {}
  void update(bool overflow, const ScaleUpdate& how) {
    found.fill_(overflow ? 1 : 0);
    amp_update_scale(scale, tracker, found, how);
  }
};

TEST(AmpUpdateScale, BacksOffAtOnceAndGrowsAfterAnInterval) {
  Scaler scaler(1024);
  const ScaleUpdate how{.growth = 2, .backoff = 0.5, .interval = 3};
  const bool overflow[] = {false, false, false, false, true, false, false, false};
  const double scale[] = {1024, 1024, 2048, 2048, 1024, 1024, 1024, 2048};
  const int tracker[] = {1, 2, 0, 1, 0, 1, 2, 0};
  for (int i = 0; i < 8; ++i) {
    scaler.update(overflow[i], how);
    EXPECT_EQ(scaler.scale.item(), scale[i]) << i;
    EXPECT_EQ(scaler.tracker.item<int>(), tracker[i]) << i;
  }
}

// pytorch#98828: the scale once grew to infinity.
TEST(AmpUpdateScale, StopsGrowingWhereTheScaleWouldBecomeInfinite) {
  Scaler scaler(65536);
  for (int i = 0; i < 150; ++i) {
    scaler.update(false, {.interval = 1});
    EXPECT_EQ(scaler.tracker.item<int>(), 0);
    EXPECT_EQ(scaler.scale.item(), std::ldexp(1, std::min(17 + i, 127)));
  }
}

TEST(AmpUpdateScale, HasNoLowerBound) {
  Scaler scaler(65536);
  for (int i = 0; i < 17; ++i) scaler.update(true, {});
  EXPECT_EQ(scaler.scale.item(), 0.5);
}

}  // namespace
}  // namespace labrig
