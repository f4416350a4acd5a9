// nll_loss and cross_entropy: values by the definition with weights, ignored classes and every reduction, on the host
// and on the simulated card; PyTorch's texts; gradients.
#include <gtest/gtest.h>

#include <cmath>
#include <string_view>

#include "device/thread_state.hpp"
#include "expect_error.hpp"
#include "host_values.hpp"
#include "labrig/ops.hpp"
#include "support/gradcheck.hpp"

namespace labrig {
namespace {

using test::doubles;
using test::error_of;
using test::expect_error;
using test::gradcheck_values;
using test::gradients_match;
using test::values;

const Device kCard("sim:0");

Tensor classes(const std::vector<std::int64_t>& numbers, const Dims& sizes) {
  return tensor<std::int64_t>(std::span<const std::int64_t>(numbers), sizes);
}

TEST(NllLoss, WeighsTheLogProbabilityOfEachTarget) {
  const Tensor log_p = doubles({-1, -2, -4, -8, -16, -32}, {2, 3}), weight = doubles({1, 10, 3}, {3});
  const Tensor target = classes({1, 0}, {2});
  for (const Device device : {Device(), kCard}) {
    const Tensor x = log_p.to(device), t = target.to(device), w = weight.to(device);
    EXPECT_EQ(values(nll_loss(x, t, {}, Reduction::none)), (std::vector<double>{2, 8}));
    EXPECT_EQ(values(nll_loss(x, t, w, Reduction::none)), (std::vector<double>{20, 8}));
    EXPECT_EQ(nll_loss(x, t, {}, Reduction::sum).item(), 10);
    EXPECT_EQ(nll_loss(x, t, w, Reduction::sum).item(), 28);
    EXPECT_EQ(nll_loss(x, t).item(), 5);
    EXPECT_EQ(nll_loss(x, t, w).item(), 28.0 / 11);
  }
}

TEST(NllLoss, PassesOverTheIgnoredClass) {
  const Tensor log_p = doubles({-1, -2, -4, -8}, {2, 2}), target = classes({-100, 1}, {2});
  for (const Device device : {Device(), kCard}) {
    const Tensor x = log_p.to(device), t = target.to(device);
    EXPECT_EQ(values(nll_loss(x, t, {}, Reduction::none)), (std::vector<double>{0, 8}));
    EXPECT_EQ(nll_loss(x, t).item(), 8);
    EXPECT_TRUE(std::isnan(nll_loss(x, t, zeros({2}, {kF64, device})).item()));
    EXPECT_TRUE(std::isnan(nll_loss(x, classes({1, 1}, {2}).to(device), {}, Reduction::mean, 1).item()));
    EXPECT_EQ(nll_loss(x, classes({1, 1}, {2}).to(device), {}, Reduction::sum, 1).item(), 0);
  }
}

TEST(NllLoss, TakesOneRowAndManyDimensions) {
  EXPECT_EQ(nll_loss(doubles({-1, -2}, {2}), classes({1}, {})).item(), 2);
  EXPECT_EQ(nll_loss(doubles({-1, -2}, {2}), classes({1}, {}), {}, Reduction::none).sizes(), Dims());
  const Tensor x = doubles({-1, -2, -3, -4, -5, -6, -7, -8}, {1, 2, 2, 2}), target = classes({0, 1, 1, 0}, {1, 2, 2});
  EXPECT_EQ(values(nll_loss(x, target, {}, Reduction::none)), (std::vector<double>{1, 6, 7, 4}));
  EXPECT_EQ(nll_loss(x.permute({0, 1, 3, 2}), target.transpose(1, 2)).item(), 4.5);
  EXPECT_EQ(nll_loss(x.flatten().unsqueeze(1).expand({8, 3}), classes({0, 0, 0, 1, 1, 2, 2, 2}, {8})).item(), 4.5);
}

TEST(NllLoss, OfNothing) {
  for (const Device device : {Device(), kCard}) {
    const Tensor x = zeros({0, 3}, device), target = zeros({0}, {kI64, device});
    EXPECT_TRUE(std::isnan(nll_loss(x, target).item()));
    EXPECT_EQ(nll_loss(x, target, {}, Reduction::sum).item(), 0);
    EXPECT_EQ(nll_loss(x, target, {}, Reduction::none).sizes(), Dims({0}));
  }
}

TEST(CrossEntropy, IsTheNllLossOfLogSoftmax) {
  const Tensor x = gradcheck_values({4, 3, 2}, 1), weight = doubles({0.5, 2, 1}, {3});
  const Tensor target = classes({0, 1, 2, -100, 2, 2, 0, 1}, {4, 2});
  for (const Reduction reduction : {Reduction::none, Reduction::mean, Reduction::sum}) {
    EXPECT_EQ(values(cross_entropy(x, target, weight, reduction)),
              values(nll_loss(log_softmax(x, 1), target, weight, reduction)));
  }
  EXPECT_NEAR(cross_entropy(zeros({2, 4}), classes({3, 1}, {2})).item(), std::log(4.0), 1e-6);
}

// What labrig::amp does with the scores of nll_loss, and with nothing else.
class LossesInFloat final : public AutocastRules {
 public:
  LossesInFloat() { thread_state().autocast = this; }
  ~LossesInFloat() { thread_state().autocast = nullptr; }
  void cast(const char* op, std::span<Tensor> inputs) override {
    if (std::string_view(op) != "nll_loss") return;
    for (Tensor& input : inputs) input = input.defined() ? input.to(kF32) : input;
  }
};

TEST(CrossEntropy, OfHalvesIsAHalfLogSoftmaxAndALossInFloatUnderAutocast) {
  const Tensor halves = gradcheck_values({4, 3}, 1).to(kF16), target = classes({0, 1, 2, 1}, {4});
  const Tensor weight = doubles({0.5, 2, 1}, {3}).to(kF32), expected = log_softmax(halves, 1).to(kF32);
  const LossesInFloat region;
  const Tensor loss = cross_entropy(halves, target, weight);
  EXPECT_EQ(loss.dtype(), kF32);
  EXPECT_EQ(loss.item(), nll_loss(expected, target, weight).item());
}

TEST(CrossEntropy, RefusesTypesAndShapesWithPyTorchsTexts) {
  const Tensor x = zeros({6, 5}), target = zeros({6}, kI64);
  expect_error("dtype-mismatch", "expected scalar type Long but found Int",
               [&] { cross_entropy(x, zeros({6}, kI32)); });
  expect_error("dtype-mismatch", "expected scalar type Long but found Float", [&] { nll_loss(x, zeros({6})); });
  expect_error("shape-mismatch", "Expected input batch_size (6) to match target batch_size (4).",
               [&] { cross_entropy(x, zeros({4}, kI64)); });
  expect_error("shape-mismatch", "0D or 1D target tensor expected, multi-target not supported",
               [&] { nll_loss(x, zeros({6, 5}, kI64)); });
  expect_error("dtype-mismatch", "Expected floating point type for target with class probabilities, got Long",
               [&] { cross_entropy(x, zeros({6, 5}, kI64)); });
  expect_error("dtype-mismatch", "cross_entropy takes the numbers of classes, not their probabilities",
               [&] { cross_entropy(x, zeros({6, 5})); });
  expect_error("shape-mismatch", "Expected target size [2, 4], got [2, 3]",
               [] { cross_entropy(zeros({2, 3, 4}), zeros({2, 3}, kI64)); });
  expect_error("shape-mismatch",
               "weight tensor should be defined either for all 5 classes or no classes but got weight tensor of "
               "shape: [4]",
               [&] { cross_entropy(x, target, zeros({4})); });
  expect_error("dtype-mismatch", "expected scalar type Float but found Half",
               [&] { cross_entropy(x, target, zeros({5}, kF16)); });
}

TEST(CrossEntropy, RefusesAClassThatIsNotThere) {
  const Tensor x = zeros({3, 5});
  expect_error("index-out-of-range", "Target 5 is out of bounds.", [&] { cross_entropy(x, classes({0, 4, 5}, {3})); });
  expect_error("index-out-of-range", "Target -1 is out of bounds.", [&] { nll_loss(x, classes({-1, 4, 5}, {3})); });
  EXPECT_EQ(error_of([&] { cross_entropy(x, classes({0, 4, 5}, {3})); }).why(),
            "it is target number 2, and there are 5 classes: 0 to 4");
}

TEST(CrossEntropy, RefusesDevicesWithPyTorchsTexts) {
  const Tensor x = zeros({6, 5}), target = zeros({6}, kI64);
  expect_error("device-mismatch",
               "Expected all tensors to be on the same device, but got target is on cpu, different from other tensors "
               "on sim:0 (when checking argument in method wrapper_CUDA_nll_loss_forward)",
               [&] { cross_entropy(x.to(kCard), target); });
  expect_error("device-mismatch",
               "Expected all tensors to be on the same device, but got weight is on cpu, different from other tensors "
               "on sim:0 (when checking argument in method wrapper_CUDA_nll_loss_forward)",
               [&] { cross_entropy(x.to(kCard), target.to(kCard), zeros({5})); });
}

TEST(CrossEntropy, HasTheGradientOfFiniteDifferences) {
  const Tensor weight = doubles({0.5, 2, 1}, {3});
  for (const Reduction reduction : {Reduction::none, Reduction::mean, Reduction::sum}) {
    for (const Device device : {Device(), kCard}) {
      const Tensor target = classes({0, 2, -100, 1}, {4}).to(device), weights = weight.to(device);
      const auto loss = [&](const test::Tensors& in) { return cross_entropy(in[0], target, weights, reduction); };
      EXPECT_TRUE(gradients_match(loss, {gradcheck_values({4, 3}, 2).to(device)}));
      const auto plain = [&](const test::Tensors& in) { return nll_loss(in[0], target, {}, reduction); };
      EXPECT_TRUE(gradients_match(plain, {gradcheck_values({3, 4}, 3).to(device).t()}));
    }
    const Tensor plane = classes({0, 2, 1, 1}, {2, 2}), none = zeros({0}, kI64), one = classes({2}, {});
    const auto images = [&](const test::Tensors& in) { return cross_entropy(in[0], plane, weight, reduction); };
    EXPECT_TRUE(gradients_match(images, {gradcheck_values({2, 3, 2}, 4)}));
    const auto row = [&](const test::Tensors& in) { return cross_entropy(in[0], one, {}, reduction); };
    EXPECT_TRUE(gradients_match(row, {gradcheck_values({3}, 5)}));
    const auto empty = [&](const test::Tensors& in) { return cross_entropy(in[0], none, {}, reduction); };
    EXPECT_TRUE(gradients_match(empty, {gradcheck_values({0, 3}, 6)}));
  }
}

TEST(CrossEntropy, MakesStepsOfPyTorchsNames) {
  const Tensor images = gradcheck_values({2, 3, 1, 1}, 7), rows = gradcheck_values({2, 3}, 8);
  images.requires_grad_();
  rows.requires_grad_();
  EXPECT_EQ(cross_entropy(images, zeros({2, 1, 1}, kI64)).grad_fn(), "NllLoss2DBackward0");
  EXPECT_EQ(cross_entropy(rows, zeros({2}, kI64)).grad_fn(), "NllLossBackward0");
}

}  // namespace
}  // namespace labrig
