// layer_norm and batch_norm: values by the definition on the host and on the simulated card, running statistics,
// PyTorch's texts, and gradients.
#include <gtest/gtest.h>

#include <cmath>

#include "expect_error.hpp"
#include "host_values.hpp"
#include "labrig/ops.hpp"
#include "support/gradcheck.hpp"

namespace labrig {
namespace {

using test::doubles;
using test::expect_error;
using test::gradcheck_values;
using test::gradients_match;
using test::values;

const Device kCard("sim:0");

void expect_near(const std::vector<double>& found, const std::vector<double>& expected, double tolerance) {
  ASSERT_EQ(found.size(), expected.size());
  for (std::size_t i = 0; i < found.size(); ++i) EXPECT_NEAR(found[i], expected[i], tolerance) << i;
}

// The rows of a matrix, each less its mean and over its deviation.
std::vector<double> normalized_rows(const Tensor& matrix, double eps) {
  std::vector<double> result = values(matrix);
  const auto count = static_cast<std::size_t>(matrix.size(1));
  for (std::size_t i = 0; i < result.size(); i += count) {
    double mean = 0, variance = 0;
    for (std::size_t j = i; j < i + count; ++j) mean += result[j] / static_cast<double>(count);
    for (std::size_t j = i; j < i + count; ++j) variance += std::pow(result[j] - mean, 2) / static_cast<double>(count);
    for (std::size_t j = i; j < i + count; ++j) result[j] = (result[j] - mean) / std::sqrt(variance + eps);
  }
  return result;
}

// --- layer_norm ----------------------------------------------------------------------------------------------------

TEST(LayerNorm, NormalisesTheTrailingDimensions) {
  const Tensor whole = gradcheck_values({4, 3, 5}, 1);
  for (const Tensor& x : {whole, whole.permute({2, 0, 1}), whole.narrow(2, 1, 2)}) {
    for (int first = 0; first < 3; ++first) {
      Dims normalized;
      for (int d = first; d < 3; ++d) normalized.push_back(x.size(d));
      const std::vector<double> expected =
          normalized_rows(x.reshape({x.numel() / normalized.product(), normalized.product()}), 0.25);
      for (const Device device : {Device(), kCard}) {
        const Tensor there = x.to(device);
        EXPECT_EQ(layer_norm(there, normalized).sizes(), x.sizes());
        expect_near(values(layer_norm(there, normalized, {}, {}, 0.25)), expected, 1e-14);
        expect_near(values(layer_norm(there.to(kF32), normalized, {}, {}, 0.25)), expected, 1e-6);
      }
    }
  }
}

TEST(LayerNorm, ScalesAndShifts) {
  const Tensor x = gradcheck_values({6, 4}, 2), weight = gradcheck_values({4}, 3), bias = gradcheck_values({4}, 4);
  const Tensor plain = layer_norm(x, {4});
  EXPECT_EQ(values(layer_norm(x, {4}, weight, bias)), values(add(mul(plain, weight), bias)));
  EXPECT_EQ(values(layer_norm(x, {4}, {}, bias)), values(add(plain, bias)));
}

TEST(LayerNorm, RoundsHalvesOnce) {
  const Tensor x = gradcheck_values({6, 40}, 2), weight = gradcheck_values({40}, 3);
  for (const Dtype half : {kF16, kBF16}) {
    const Tensor halves = x.to(half), weights = weight.to(half);
    EXPECT_EQ(values(layer_norm(halves, {40}, weights)),
              values(layer_norm(halves.to(kF32), {40}, weights.to(kF32)).to(half)));
  }
}

TEST(LayerNorm, RefusesWithPyTorchsTexts) {
  const Tensor x = zeros({2, 3});
  expect_error("shape-mismatch",
               "Given normalized_shape=[4], expected input with shape [*, 4], but got input of size[2, 3]",
               [&] { layer_norm(x, {4}); });
  expect_error("shape-mismatch",
               "Expected weight to be of same shape as normalized_shape, but got weight of shape [2] and "
               "normalized_shape = [3]",
               [&] { layer_norm(x, {3}, zeros({2})); });
  expect_error("dtype-mismatch", "\"LayerNormKernelImpl\" not implemented for 'Long'",
               [] { layer_norm(zeros({2}, kI64), {2}); });
  expect_error("dtype-mismatch", "expected scalar type Half but found Float",
               [&] { layer_norm(x.to(kF16), {3}, zeros({3})); });
  expect_error("device-mismatch",
               "Expected all tensors to be on the same device, but got weight is on cpu, different from other tensors "
               "on sim:0 (when checking argument in method wrapper_CUDA__native_layer_norm)",
               [&] { layer_norm(x.to(kCard), {3}, zeros({3})); });
}

TEST(LayerNorm, HasTheGradientOfFiniteDifferences) {
  const auto with_both = [](const test::Tensors& in) { return layer_norm(in[0], {4}, in[1], in[2]); };
  const Tensor x = gradcheck_values({5, 4}, 5), weight = gradcheck_values({4}, 6), bias = gradcheck_values({4}, 7);
  EXPECT_TRUE(gradients_match(with_both, {x, weight, bias}));
  EXPECT_TRUE(gradients_match(with_both, {gradcheck_values({4, 5}, 5).t(), weight, bias}));
  EXPECT_TRUE(gradients_match(with_both, {gradcheck_values({0, 4}, 5), weight, bias}));
  EXPECT_TRUE(gradients_match(with_both, {x.to(kCard), weight.to(kCard), bias.to(kCard)}));
  EXPECT_TRUE(gradients_match([](const test::Tensors& in) { return layer_norm(in[0], {4}); }, {x}));
  EXPECT_TRUE(gradients_match([](const test::Tensors& in) { return layer_norm(in[0], {4}, {}, in[1]); }, {x, bias}));
  EXPECT_TRUE(gradients_match([](const test::Tensors& in) { return layer_norm(in[0], {2, 3}, in[1]); },
                              {gradcheck_values({3, 2, 3}, 8), gradcheck_values({2, 3}, 9)}));
}

// --- batch_norm ----------------------------------------------------------------------------------------------------

Tensor in_training(const Tensor& x, const Tensor& weight = {}, const Tensor& bias = {}) {
  return batch_norm(x, {}, {}, weight, bias, true, 0.1, 0.25);
}

TEST(BatchNorm, NormalisesEveryChannelOverTheBatch) {
  for (const Dims& sizes : {Dims{6, 3}, Dims{2, 3, 5}, Dims{2, 3, 2, 4}}) {
    const Tensor x = gradcheck_values(sizes, 11);
    const Tensor channels = x.transpose(0, 1).reshape({3, x.numel() / 3});
    const std::vector<double> expected =
        values(doubles(normalized_rows(channels, 0.25), x.transpose(0, 1).sizes()).transpose(0, 1));
    for (const Device device : {Device(), kCard}) {
      const Tensor there = x.to(device);
      expect_near(values(in_training(there)), expected, 1e-14);
      expect_near(values(in_training(there.to(kF32))), expected, 1e-6);
    }
  }
  const Tensor x = gradcheck_values({3, 5, 4}, 12).permute({2, 0, 1});
  EXPECT_EQ(values(in_training(x)), values(in_training(x.contiguous())));
}

TEST(BatchNorm, MovesTheRunningStatisticsByTheUnbiasedVariance) {
  const Tensor x = doubles({1, 10, 3, 10, 5, 16}, {3, 2}).to(kF32);
  for (const Device device : {Device(), kCard}) {
    const Tensor mean = full({2}, 1, device), variance = full({2}, 1, device);
    const std::uint32_t before = mean.version();
    batch_norm(x.to(device), mean, variance, {}, {}, true, 0.5);
    EXPECT_EQ(values(mean), (std::vector<double>{2, 6.5}));        // halfway to 3 and 12
    EXPECT_EQ(values(variance), (std::vector<double>{2.5, 6.5}));  // halfway to 8 / 2 and 24 / 2
    EXPECT_EQ(mean.version(), before + 1);
    batch_norm(x.to(device), mean, variance, {}, {}, false, 0.5);
    EXPECT_EQ(mean.version(), before + 1);
  }
}

TEST(BatchNorm, UsesTheRunningStatisticsInEvaluation) {
  const Tensor x = doubles({1, 10, 3, 20}, {2, 2}), mean = doubles({1, 10}, {2}),
               variance = doubles({3.75, 24.75}, {2});
  const Tensor weight = doubles({1, 10}, {2}), bias = doubles({0, 1}, {2});
  for (const Device device : {Device(), kCard}) {
    const Tensor y = batch_norm(x.to(device), mean.to(device), variance.to(device), weight.to(device), bias.to(device),
                                false, 0.1, 0.25);
    EXPECT_EQ(values(y), (std::vector<double>{0, 1, 1, 21}));
  }
}

TEST(BatchNorm, TakesHalvesWithParametersInFloat) {
  const Tensor x = gradcheck_values({8, 3}, 13).to(kF16), weight = gradcheck_values({3}, 14).to(kF32);
  const Tensor mean = zeros({3}), variance = ones({3});
  const Tensor y = batch_norm(x, mean, variance, weight, {}, true);
  EXPECT_EQ(y.dtype(), kF16);
  EXPECT_EQ(values(y), values(batch_norm(x.to(kF32), {}, {}, weight, {}, true).to(kF16)));
  const Tensor bias = zeros({3}, kF16);
  weight.requires_grad_();
  bias.requires_grad_();
  sum(batch_norm(x, mean, variance, weight, bias, true)).backward();
  EXPECT_EQ(weight.grad().dtype(), kF32);
  EXPECT_EQ(bias.grad().dtype(), kF16);
  EXPECT_EQ(values(bias.grad()), (std::vector<double>{8, 8, 8}));
}

TEST(BatchNorm, RefusesWithPyTorchsTexts) {
  const Tensor x = zeros({1, 3});
  expect_error("shape-mismatch",
               "Expected more than 1 value per channel when training, got input size torch.Size([1, 3])",
               [&] { batch_norm(x, {}, {}, {}, {}, true); });
  expect_error("undefined-tensor", "running_mean must be defined in evaluation mode", [&] { batch_norm(x, {}, {}); });
  expect_error("shape-mismatch", "running_mean should contain 3 elements not 4",
               [&] { batch_norm(x, zeros({4}), zeros({3})); });
  expect_error("shape-mismatch", "weight should contain 3 elements not 2",
               [&] { batch_norm(x, zeros({3}), zeros({3}), zeros({2})); });
  expect_error("dtype-mismatch", "expected scalar type Float but found Double",
               [&] { batch_norm(x, zeros({3}), zeros({3}), zeros({3}, kF64)); });
  expect_error("dimension-out-of-range", "Dimension out of range (expected to be in range of [-1, 0], but got 1)",
               [] { batch_norm(zeros({3}), {}, {}, {}, {}, true); });
}

TEST(BatchNorm, HasTheGradientOfFiniteDifferences) {
  const auto training = [](const test::Tensors& in) { return in_training(in[0], in[1], in[2]); };
  const Tensor weight = gradcheck_values({3}, 15), bias = gradcheck_values({3}, 16);
  EXPECT_TRUE(gradients_match(training, {gradcheck_values({4, 3}, 17), weight, bias}));
  EXPECT_TRUE(gradients_match(training, {gradcheck_values({2, 3, 2, 2}, 17), weight, bias}));
  EXPECT_TRUE(gradients_match(training, {gradcheck_values({3, 4, 2}, 17).transpose(0, 1), weight, bias}));
  EXPECT_TRUE(gradients_match(training, {gradcheck_values({3, 4}, 17).t(), weight, bias}));
  EXPECT_TRUE(gradients_match(training, {gradcheck_values({0, 3}, 17), weight, bias}));
  EXPECT_TRUE(
      gradients_match([](const test::Tensors& in) { return in_training(in[0]); }, {gradcheck_values({4, 3}, 18)}));
  const Tensor x = gradcheck_values({4, 3}, 17);
  EXPECT_TRUE(gradients_match(training, {x.to(kCard), weight.to(kCard), bias.to(kCard)}));
  const Tensor mean = gradcheck_values({3}, 19), variance = mul(mean, mean);
  const auto evaluation = [&](const test::Tensors& in) { return batch_norm(in[0], mean, variance, in[1], in[2]); };
  EXPECT_TRUE(gradients_match(evaluation, {x, weight, bias}));
  EXPECT_TRUE(gradients_match(evaluation, {gradcheck_values({2, 3, 2}, 20), weight, bias}));
}

}  // namespace
}  // namespace labrig
