// Reductions: shapes, the number of launches, values over every set of dimensions and layout on the host (which has
// loops of its own) and on the simulated card (which runs the plain ones), and gradients.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "expect_error.hpp"
#include "fake_card.hpp"
#include "host_values.hpp"
#include "labrig/ops.hpp"
#include "support/gradcheck.hpp"

namespace labrig {
namespace {

using test::AttachedCard;
using test::doubles;
using test::expect_error;
using test::Function;
using test::gradcheck_values;
using test::gradients_match;
using test::Tensors;
using test::values;

const Device kCard("sim:0");
constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

// 0, 3, 6, … modulo 11, of this type.
Tensor sample(const Dims& sizes, Dtype dtype) {
  std::vector<double> values(static_cast<std::size_t>(sizes.product()));
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<double>(i * 3 % 11);
  return doubles(values, sizes).to(dtype);
}

// By the definition: every element of x goes to the output that has its index with the reduced dimensions at 0.
std::vector<double> reduced(Kernel kernel, const Tensor& x, const Dims& kept) {
  const std::vector<double> from = values(x);
  const auto outputs = static_cast<std::size_t>(kept.product());
  std::vector<double> to(outputs, kernel == Kernel::max ? -1 : 0);
  for (std::size_t i = 0; i < from.size(); ++i) {
    std::int64_t rest = static_cast<std::int64_t>(i), at = 0, step = 1;
    for (int d = x.dim() - 1; d >= 0; --d) {
      if (kept[d] != 1) at += rest % x.size(d) * step;
      step *= kept[d];
      rest /= x.size(d);
    }
    double& result = to[static_cast<std::size_t>(at)];
    result = kernel == Kernel::max ? std::max(result, from[i]) : result + from[i];
  }
  for (double& value : to) {
    if (kernel == Kernel::mean) value /= static_cast<double>(from.size() / outputs);
  }
  return to;
}

TEST(Reductions, AgreeWithTheDefinitionOverEverySetOfDimensionsAndLayout) {
  const Tensor whole = sample({4, 6, 2, 5}, kF64);
  const Tensor views[] = {whole,
                          whole.permute({3, 0, 2, 1}),
                          whole.narrow(1, 2, 3),
                          whole.slice(3, 0, 5, 2),
                          whole.select(1, 0).unsqueeze(1).expand({4, 3, 2, 5}),
                          whole.narrow(2, 1, 1)};
  for (const Tensor& x : views) {
    for (int set = 1; set < 16; ++set) {
      Dims dims, kept = x.sizes();
      for (int d = 0; d < 4; ++d) {
        if ((set >> d & 1) == 0) continue;
        dims.push_back(d % 2 ? d : d - 4);
        kept[d] = 1;
      }
      for (const Device device : {Device(), kCard}) {
        const Tensor there = device.is_cpu() ? x : x.to(device);
        const Tensor total = sum(there, dims, true);
        EXPECT_EQ(total.sizes(), kept);
        EXPECT_EQ(values(total), reduced(Kernel::sum, x, kept)) << x.strides().str() << dims.str();
        EXPECT_EQ(values(mean(there, dims)), reduced(Kernel::mean, x, kept)) << x.strides().str() << dims.str();
      }
    }
    for (int d = 0; d < 4; ++d) {
      Dims kept = x.sizes();
      kept[d] = 1;
      EXPECT_EQ(values(max(x, d)), reduced(Kernel::max, x, kept));
    }
    EXPECT_EQ(max(x).item(), reduced(Kernel::max, x, {1, 1, 1, 1})[0]);
  }
}

TEST(Reductions, AreTheSameOnTheHostAndOnTheCardForEveryType) {
  for (const Dtype dtype : {kF32, kF16, kBF16, kF64, kI64, kI32, kU8, kBool}) {
    const Tensor x = sample({3, 300, 2}, dtype).transpose(0, 1), there = x.to(kCard);
    EXPECT_EQ(values(sum(there, {0, 2})), values(sum(x, {0, 2}))) << name_of(dtype);
    EXPECT_EQ(values(max(there, 1)), values(max(x, 1))) << name_of(dtype);
    EXPECT_EQ(max(there).item(), max(x).item()) << name_of(dtype);
    EXPECT_EQ(values(argmax(there, 0)), values(argmax(x, 0))) << name_of(dtype);
    if (!is_floating_point(dtype)) continue;
    EXPECT_EQ(values(mean(there, {0})), values(mean(x, {0}))) << name_of(dtype);
    EXPECT_EQ(norm(there).item(), norm(x).item()) << name_of(dtype);
  }
}

TEST(Reductions, OverSeveralDimensionsAreOneLaunch) {
  AttachedCard card;
  const Tensor x = zeros({2, 3, 4}, kCard);
  card->launches.clear();
  sum(x, {0, -1});
  mean(x);
  sum_to_size(x.permute({2, 0, 1}), {2, 1});
  ASSERT_EQ(card->launches.size(), 3u);
  EXPECT_EQ(card->launches[2].kernel, Kernel::sum);
}

TEST(Reductions, OverAnEmptyListAreOverAll) {
  const Tensor x = sample({2, 3}, kF32);
  EXPECT_EQ(sum(x, Dims{}).sizes(), Dims());
  EXPECT_EQ(mean(x, Dims{}, true).sizes(), Dims({1, 1}));
}

TEST(Reductions, RefuseDimensionsThatAreNamedTwiceOrAreNotThere) {
  const Tensor x = zeros({2, 3});
  expect_error("duplicate-dimension", "dim 1 appears multiple times in the list of dims", [&] { sum(x, {1, -1}); });
  expect_error("dimension-out-of-range", "Dimension out of range (expected to be in range of [-2, 1], but got 2)",
               [&] { mean(x, {0, 2}); });
}

TEST(Reductions, TakeATensorWithoutDimensions) {
  const Tensor x = full({}, 3);
  EXPECT_EQ(sum(x, -1).item(), 3);
  EXPECT_EQ(mean(x, {0}, true).sizes(), Dims());
  EXPECT_EQ(max(x, 0).item(), 3);
  EXPECT_EQ(argmax(x, -1).item(), 0);
  EXPECT_EQ(norm(full({}, -3)).item(), 3);
}

TEST(Reductions, OfNothing) {
  for (const Device device : {Device(), kCard}) {
    EXPECT_EQ(values(sum(zeros({2, 0}, device), 1)), (std::vector<double>{0, 0}));
    EXPECT_EQ(norm(zeros({0}, device)).item(), 0);
    EXPECT_TRUE(std::isnan(mean(zeros({0, 3}, device)).item()));
    EXPECT_EQ(sum(zeros({0, 3}, device), 1).sizes(), Dims({0}));
    EXPECT_EQ(argmax(zeros({0, 3}, device), 1).sizes(), Dims({0}));
  }
  expect_error("empty-reduction", "argmax(): Expected reduction dim 1 to have non-zero size.",
               [] { argmax(zeros({3, 0}), 1); });
}

TEST(Argmax, IsTheFirstMaximumAndNaNIsTheLargest) {
  const Tensor x = doubles({1, 7, 7, kNaN, 9, kNaN, -2, -2, -5}, {3, 3});
  for (const Device device : {Device(), kCard}) {
    EXPECT_EQ(values(argmax(x.to(device), 1)), (std::vector<double>{1, 0, 0}));
    EXPECT_EQ(values(argmax(x.to(device), 0, true)), (std::vector<double>{1, 1, 1}));
  }
  EXPECT_EQ(argmax(x, 1).dtype(), kI64);
}

TEST(Norm, SumsTheSquaresOfALongHalfTensorWithoutOverflow) {
  EXPECT_EQ(norm(full({64, 64}, 300, kF16)).item(), 300 * 64);
  expect_error("dtype-mismatch", "linalg.vector_norm: Expected a floating point or complex tensor as input. Got Long",
               [] { norm(zeros({2}, kI64)); });
}

TEST(Norm, OfZerosHasAGradientOfZero) {
  for (const Device device : {Device(), kCard}) {
    const Tensor x = zeros({3}, device);
    x.requires_grad_();
    norm(x).backward();
    EXPECT_EQ(values(x.grad()), (std::vector<double>{0, 0, 0}));
  }
}

TEST(Max, SharesItsGradientAmongEqualMaximaOverAllAndGivesItToTheFirstAlongADimension) {
  for (const Device device : {Device(), kCard}) {
    const Tensor x = doubles({4, 1, 4, 4, kInfinity, kInfinity, 0, 2}, {2, 4}).to(device), row = x[0].clone();
    row.requires_grad_();
    max(row).backward(full({}, 6, {kF64, device}));
    EXPECT_EQ(values(row.grad()), (std::vector<double>{2, 0, 2, 2}));
    x.requires_grad_();
    max(x, 1).backward(doubles({6, kInfinity}, {2}).to(device));
    EXPECT_EQ(values(x.grad()), (std::vector<double>{6, 0, 0, 0, kInfinity, 0, 0, 0}));
  }
}

TEST(Max, GivesItsGradientToNaN) {
  const Tensor x = doubles({1, kNaN, 5, kNaN}, {4}), y = doubles({1, kNaN, 5, kNaN}, {4, 1});
  x.requires_grad_();
  y.requires_grad_();
  max(x).backward();
  EXPECT_EQ(values(x.grad()), (std::vector<double>{0, 0.5, 0, 0.5}));
  sum(max(y, 0)).backward();
  EXPECT_EQ(values(y.grad()), (std::vector<double>{0, 1, 0, 0}));
}

TEST(Max, OverADimensionKeepsAnIndexAndNotItsInput) {
  const Tensor x = doubles({1, 3, 2}, {3});
  x.requires_grad_();
  const Tensor y = max(x, 0);
  {
    const NoGradGuard guard;
    x.zero_();
  }
  y.backward();
  EXPECT_EQ(values(x.grad()), (std::vector<double>{0, 1, 0}));
}

TEST(Reductions, MakeStepsOfPyTorchsNames) {
  const Tensor x = ones({2, 2});
  x.requires_grad_();
  EXPECT_EQ(sum(x).grad_fn(), "SumBackward0");
  EXPECT_EQ(sum(x, 0).grad_fn(), "SumBackward1");
  EXPECT_EQ(mean(x).grad_fn(), "MeanBackward0");
  EXPECT_EQ(mean(x, {0, 1}).grad_fn(), "MeanBackward1");
  EXPECT_EQ(max(x).grad_fn(), "MaxBackward1");
  EXPECT_EQ(max(x, 0).grad_fn(), "MaxBackward0");
  EXPECT_EQ(norm(x).grad_fn(), "LinalgVectorNormBackward0");
  EXPECT_EQ(argmax(x, 0).grad_fn(), "");
}

TEST(Reductions, HaveTheGradientsOfFiniteDifferences) {
  const Function functions[] = {[](const Tensors& in) { return sum(in[0]); },
                                [](const Tensors& in) { return sum(in[0], {0, -1}); },
                                [](const Tensors& in) { return sum(in[0], 1, true); },
                                [](const Tensors& in) { return mean(in[0]); },
                                [](const Tensors& in) { return mean(in[0], {1, 2}, true); },
                                [](const Tensors& in) { return mean(in[0], 0); },
                                [](const Tensors& in) { return norm(in[0]); },
                                [](const Tensors& in) { return max(in[0]); },
                                [](const Tensors& in) { return max(in[0], 0); },
                                [](const Tensors& in) { return max(in[0], -1, true); },
                                [](const Tensors& in) { return sum_to_size(in[0], {in[0].size(1), 1}); }};
  const Tensor x = gradcheck_values({2, 3, 4}, 1);
  for (const Tensor& input : {x, x.permute({2, 0, 1}), x.slice(2, 0, 4, 3), x.to(kCard)}) {
    for (const Function& f : functions) EXPECT_TRUE(gradients_match(f, {input})) << &f - functions;
  }
  EXPECT_TRUE(gradients_match(functions[1], {gradcheck_values({2, 0, 4}, 2)}));
  EXPECT_TRUE(gradients_match(functions[6], {gradcheck_values({0}, 2)}));
  EXPECT_TRUE(gradients_match([](const Tensors& in) { return max(in[0], 1); }, {gradcheck_values({0, 3}, 3)}));
  for (const int i : {0, 3, 5, 6, 7, 8, 9}) EXPECT_TRUE(gradients_match(functions[i], {gradcheck_values({}, 3)})) << i;
}

TEST(SumToSize, UndoesABroadcast) {
  const Tensor x = sample({2, 3, 4}, kF64);
  EXPECT_EQ(values(sum_to_size(x, {3, 1})), values(sum(x, {0, 2})));
  EXPECT_EQ(sum_to_size(x, {3, 1}).sizes(), Dims({3, 1}));
  EXPECT_EQ(sum_to_size(x, {}).item(), sum(x).item());
  EXPECT_TRUE(sum_to_size(x, {2, 3, 4}).is_same(x));
  expect_error("shape-mismatch", "size {[2]} is not expandable to size {[2, 3, 4]}.", [&] { sum_to_size(x, {2}); });
}

}  // namespace
}  // namespace labrig
