// softmax and log_softmax: values by the definition along every dimension and over layouts, on the host and on the
// simulated card, and gradients.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

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
constexpr double kInfinity = std::numeric_limits<double>::infinity();

// Layouts of [3, 4, 5]: plain, permuted, with gaps, expanded.
std::vector<Tensor> layouts(const Tensor& x) {
  return {x, x.permute({1, 2, 0}), x.narrow(1, 1, 2), x.slice(2, 0, 5, 2),
          x.select(1, 0).unsqueeze(1).expand({3, 4, 5})};
}

void expect_near(const std::vector<double>& found, const std::vector<double>& expected, double tolerance) {
  ASSERT_EQ(found.size(), expected.size());
  for (std::size_t i = 0; i < found.size(); ++i) EXPECT_NEAR(found[i], expected[i], tolerance) << i;
}

// exp(x) / sum of exp(x) in plain arithmetic on f64 tensors.
std::vector<double> by_definition(const Tensor& x, int dim) {
  const Tensor line = x.transpose(dim, 2).contiguous();
  std::vector<double> powers = values(line);
  const auto count = static_cast<std::size_t>(line.size(2));
  for (std::size_t i = 0; i < powers.size(); i += count) {
    double total = 0;
    for (std::size_t j = i; j < i + count; ++j) total += powers[j] = std::exp(powers[j]);
    for (std::size_t j = i; j < i + count; ++j) powers[j] /= total;
  }
  return values(doubles(powers, line.sizes()).transpose(dim, 2));
}

TEST(Softmax, AgreesWithTheDefinitionAlongEveryDimensionAndLayout) {
  for (const Tensor& x : layouts(gradcheck_values({3, 4, 5}, 1))) {
    for (int dim = 0; dim < 3; ++dim) {
      const std::vector<double> expected = by_definition(x, dim);
      std::vector<double> logarithms = expected;
      for (double& value : logarithms) value = std::log(value);
      for (const Device device : {Device(), kCard}) {
        const Tensor there = x.to(device);
        expect_near(values(softmax(there, dim)), expected, 1e-14);
        expect_near(values(softmax(there.to(kF32), dim - 3)), expected, 1e-7);
        expect_near(values(log_softmax(there, dim)), logarithms, 1e-14);
        expect_near(values(log_softmax(there.to(kF32), dim)), logarithms, 1e-6);
      }
    }
  }
}

TEST(Softmax, OfLargeNumbersDoesNotOverflow) {
  const Tensor x = doubles({1000, 0, -kInfinity, 5}, {2, 2}).to(kF32);
  EXPECT_EQ(values(softmax(x, 1)), (std::vector<double>{1, 0, 0, 1}));
  EXPECT_EQ(values(log_softmax(x, 1)), (std::vector<double>{0, -1000, -kInfinity, 0}));
  for (const double value : values(softmax(full({2}, -kInfinity), 0))) EXPECT_TRUE(std::isnan(value));
}

TEST(Softmax, RoundsHalvesOnce) {
  const Tensor x = gradcheck_values({4, 33}, 2);
  for (const Dtype half : {kF16, kBF16}) {
    const Tensor halves = x.to(half);
    EXPECT_EQ(values(softmax(halves, 1)), values(softmax(halves.to(kF32), 1).to(half)));
    EXPECT_EQ(values(log_softmax(halves, 0)), values(log_softmax(halves.to(kF32), 0).to(half)));
  }
}

TEST(Softmax, TakesTensorsWithoutDimensionsAndWithoutElements) {
  for (const Device device : {Device(), kCard}) {
    EXPECT_EQ(softmax(full({}, 3, device), -1).item(), 1);
    EXPECT_EQ(log_softmax(full({}, 3, device), 0).item(), 0);
    EXPECT_EQ(softmax(zeros({2, 0}, device), 1).sizes(), Dims({2, 0}));
  }
}

TEST(Softmax, RefusesIntegersAndDimensionsThatAreNotThere) {
  expect_error("dtype-mismatch", "\"softmax_lastdim_kernel_impl\" not implemented for 'Long'",
               [] { softmax(zeros({2, 3}, kI64), 1); });
  expect_error("dtype-mismatch", "\"log_softmax_lastdim_kernel_impl\" not implemented for 'Int'",
               [] { log_softmax(zeros({2, 3}, kI32), -1); });
  expect_error("dtype-mismatch", "\"host_softmax\" not implemented for 'Long'",
               [] { softmax(zeros({2, 3}, {kI64, kCard}), 0); });
  expect_error("dimension-out-of-range", "Dimension out of range (expected to be in range of [-2, 1], but got 2)",
               [] { softmax(zeros({2, 3}), 2); });
}

TEST(Softmax, KeepsItsResultAndNotItsInput) {
  const Tensor x = gradcheck_values({2, 3}, 3);
  x.requires_grad_();
  const Tensor y = softmax(x, 1);
  EXPECT_EQ(y.grad_fn(), "SoftmaxBackward0");
  {
    const NoGradGuard guard;
    x.zero_();
  }
  sum(y).backward();
  for (const double value : values(x.grad())) EXPECT_NEAR(value, 0, 1e-15);
  const Tensor z = log_softmax(x, 1);
  EXPECT_EQ(z.grad_fn(), "LogSoftmaxBackward0");
}

TEST(Softmax, HasTheGradientOfFiniteDifferences) {
  for (const Tensor& x : layouts(gradcheck_values({3, 4, 5}, 4))) {
    for (int dim = 0; dim < 3; ++dim) {
      EXPECT_TRUE(gradients_match([dim](const test::Tensors& in) { return softmax(in[0], dim); }, {x}));
      EXPECT_TRUE(gradients_match([dim](const test::Tensors& in) { return log_softmax(in[0], dim); }, {x}));
    }
  }
  for (const Dims& sizes : {Dims{}, Dims{0, 3}, Dims{3, 0}}) {
    EXPECT_TRUE(
        gradients_match([](const test::Tensors& in) { return softmax(in[0], -1); }, {gradcheck_values(sizes, 5)}));
    EXPECT_TRUE(
        gradients_match([](const test::Tensors& in) { return log_softmax(in[0], 0); }, {gradcheck_values(sizes, 5)}));
  }
  const Tensor there = gradcheck_values({2, 3}, 6).to(kCard);
  EXPECT_TRUE(gradients_match([](const test::Tensors& in) { return softmax(in[0], 1); }, {there}));
  EXPECT_TRUE(gradients_match([](const test::Tensors& in) { return log_softmax(in[0], 1); }, {there}));
}

}  // namespace
}  // namespace labrig
