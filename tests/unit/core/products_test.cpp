// mm, bmm, matmul, linear: shapes and values against sums in double, what PyTorch refuses, and gradients against
// differences. What every device must compute is in tests/contract.
#include <gtest/gtest.h>

#include "expect_error.hpp"
#include "fake_card.hpp"
#include "host_values.hpp"
#include "labrig/autograd.hpp"
#include "labrig/ops.hpp"
#include "support/gradcheck.hpp"

namespace labrig {
namespace {

using test::AttachedCard;
using test::expect_error;
using test::gradcheck_values;
using test::gradients_match;
using test::Tensors;
using test::values;

// Number (i, j) of the product of two matrices.
double entry(const Tensor& a, const Tensor& b, std::int64_t i, std::int64_t j) {
  double sum = 0;
  for (std::int64_t k = 0; k < a.size(1); ++k) sum += a[i][k].item() * b[k][j].item();
  return sum;
}

void expect_product(const Tensor& out, const Tensor& a, const Tensor& b) {
  ASSERT_EQ(out.sizes(), Dims({a.size(0), b.size(1)}));
  for (std::int64_t i = 0; i < out.size(0); ++i) {
    for (std::int64_t j = 0; j < out.size(1); ++j) EXPECT_NEAR(out[i][j].item(), entry(a, b, i, j), 1e-9);
  }
}

// Every second column of a wider matrix.
Tensor with_gaps(const Dims& sizes, std::uint32_t seed) {
  Dims wide = sizes;
  wide[sizes.count() - 1] *= 2;
  return gradcheck_values(wide, seed).slice(-1, 0, wide[sizes.count() - 1], 2);
}

TEST(Matmul, HasTheShapesOfPyTorch) {
  const auto shape = [](const Dims& a, const Dims& b) { return matmul(ones(a), ones(b)).sizes(); };
  EXPECT_EQ(shape({3}, {3}), Dims());
  EXPECT_EQ(shape({2, 3}, {3}), Dims({2}));
  EXPECT_EQ(shape({3}, {3, 4}), Dims({4}));
  EXPECT_EQ(shape({5, 2, 3}, {3, 4}), Dims({5, 2, 4}));
  EXPECT_EQ(shape({5, 2, 3}, {3}), Dims({5, 2}));
  EXPECT_EQ(shape({2, 3}, {5, 3, 4}), Dims({5, 2, 4}));
  EXPECT_EQ(shape({3}, {5, 3, 4}), Dims({5, 4}));
  EXPECT_EQ(shape({6, 1, 2, 3}, {5, 3, 4}), Dims({6, 5, 2, 4}));
  EXPECT_EQ(shape({0, 2, 3}, {3, 4}), Dims({0, 2, 4}));
  EXPECT_EQ(shape({5, 2, 0}, {0, 4}), Dims({5, 2, 4}));
}

TEST(Matmul, OfBatchesIsTheProductOfEachPair) {
  const Tensor a = gradcheck_values({2, 1, 3, 4}, 1), b = gradcheck_values({3, 4, 2}, 2);
  const Tensor out = matmul(a, b);
  for (std::int64_t i = 0; i < 2; ++i) {
    for (std::int64_t j = 0; j < 3; ++j) expect_product(out[i][j], a[i][0], b[j]);
  }
  const Tensor left = gradcheck_values({3, 4}, 3);
  for (std::int64_t j = 0; j < 3; ++j) expect_product(matmul(left, b)[j], left, b[j]);
}

TEST(Matmul, FoldsABatchIntoTheRowsOfOneProduct) {
  AttachedCard card;
  const Tensor a = ones({5, 2, 3}, Device("sim:0")), b = ones({3, 4}, Device("sim:0"));
  card->launches.clear();
  matmul(a, b);
  ASSERT_EQ(card->launches.size(), 1u);
  EXPECT_EQ(card->launches[0].kernel, Kernel::matmul);
  card->launches.clear();
  matmul(a, a.transpose(1, 2));
  ASSERT_EQ(card->launches.size(), 1u);
  EXPECT_EQ(card->launches[0].kernel, Kernel::bmm);
}

TEST(Matmul, ReadsTransposedOperandsAsTheyLieAlsoOnTheWayBack) {
  AttachedCard card;
  const Tensor a = ones({4, 2}, Device("sim:0")).requires_grad_(), b = ones({3, 4}, Device("sim:0")).requires_grad_();
  const Tensor out = matmul(a.t(), b.t());
  card->launches.clear();
  out.backward(ones({2, 3}, Device("sim:0")));
  for (const auto& launch : card->launches) EXPECT_NE(launch.kernel, Kernel::copy);
  EXPECT_EQ(values(a.grad()), std::vector<double>(8, 3.0));
  EXPECT_EQ(values(b.grad()), std::vector<double>(12, 2.0));
}

TEST(Matmul, HasTheGradientsThatDifferencesSay) {
  const auto product = [](const Tensors& x) { return matmul(x[0], x[1]); };
  const std::pair<Dims, Dims> shapes[] = {{{3}, {3}},          {{2, 3}, {3}},       {{3}, {3, 2}},
                                          {{2, 3}, {3, 4}},    {{2, 3, 2}, {2, 3}}, {{2, 2, 3}, {3}},
                                          {{2, 3}, {2, 3, 2}}, {{3}, {2, 3, 2}},    {{2, 1, 2, 3}, {2, 3, 2}},
                                          {{0, 3}, {3, 2}},    {{2, 0}, {0, 3}}};
  for (const auto& [a, b] : shapes) {
    EXPECT_TRUE(gradients_match(product, {gradcheck_values(a, 1), gradcheck_values(b, 2)})) << a.str() << b.str();
  }
  EXPECT_TRUE(gradients_match(product, {with_gaps({3, 2}, 3), gradcheck_values({4, 2}, 4).t()}));
  EXPECT_TRUE(gradients_match(product, {gradcheck_values({3}, 5).expand({2, 3}), with_gaps({3, 2}, 6)}));
}

TEST(Bmm, HasTheGradientsThatDifferencesSay) {
  const auto product = [](const Tensors& x) { return bmm(x[0], x[1]); };
  EXPECT_TRUE(gradients_match(product, {gradcheck_values({2, 3, 2}, 1), gradcheck_values({2, 2, 4}, 2)}));
  EXPECT_TRUE(gradients_match(product, {with_gaps({2, 3, 2}, 3), gradcheck_values({2, 4, 2}, 4).transpose(1, 2)}));
  EXPECT_TRUE(gradients_match(product, {gradcheck_values({0, 3, 2}, 1), gradcheck_values({0, 2, 4}, 2)}));
}

TEST(Linear, AddsTheBiasToEachRow) {
  const Tensor x = gradcheck_values({2, 3, 4}, 1), weight = gradcheck_values({5, 4}, 2),
               bias = gradcheck_values({5}, 3);
  const Tensor out = linear(x, weight, bias), expected = add(matmul(x, weight.t()), bias);
  EXPECT_EQ(out.sizes(), Dims({2, 3, 5}));
  const auto found = values(out), wanted = values(expected);
  for (std::size_t i = 0; i < wanted.size(); ++i) EXPECT_NEAR(found[i], wanted[i], 1e-12);
  EXPECT_EQ(linear(gradcheck_values({4}, 4), weight).sizes(), Dims({5}));
  EXPECT_EQ(values(linear(ones({2, 0}), ones({3, 0}), ones({3}))), std::vector<double>(6, 1.0));
}

TEST(Linear, RoundsOnce) {
  // 256 + 1 is 257, which bf16 has not: rounded before the bias is added, it would be 256, and 255 after it.
  const Tensor x = tensor<float>({256.0f, 1.0f}).to(kBF16).unsqueeze(0);
  EXPECT_EQ(linear(x, ones({1, 2}, kBF16), full({1}, -1, kBF16)).item(), 256);
}

TEST(Linear, IsOneKernelAndSavesOnlyWhatIsWanted) {
  AttachedCard card;
  const Device sim("sim:0");
  const Tensor x = ones({2, 3, 4}, sim), weight = ones({5, 4}, sim).requires_grad_(), bias = ones({5}, sim);
  card->launches.clear();
  const Tensor out = linear(x, weight, bias);
  ASSERT_EQ(card->launches.size(), 1u);
  EXPECT_EQ(card->launches[0].kernel, Kernel::linear);
  EXPECT_EQ(out.grad_fn(), "AddmmBackward0");
  weight.detach().fill_(2);  // would be an error if the weight were saved: x needs no gradient
  out.backward(ones({2, 3, 5}, sim));
  EXPECT_EQ(values(weight.grad()), std::vector<double>(20, 6.0));
  EXPECT_FALSE(x.grad().defined());
}

TEST(Linear, HasTheGradientsThatDifferencesSay) {
  const auto layer = [](const Tensors& x) { return x.size() == 3 ? linear(x[0], x[1], x[2]) : linear(x[0], x[1]); };
  const Tensor weight = gradcheck_values({2, 3}, 1), bias = gradcheck_values({2}, 2);
  for (const Dims& sizes : {Dims{4, 3}, Dims{2, 2, 3}, Dims{3}, Dims{0, 3}}) {
    EXPECT_TRUE(gradients_match(layer, {gradcheck_values(sizes, 3), weight, bias})) << sizes.str();
    EXPECT_TRUE(gradients_match(layer, {gradcheck_values(sizes, 3), weight})) << sizes.str();
  }
  EXPECT_TRUE(gradients_match(layer, {with_gaps({2, 2, 3}, 4), gradcheck_values({3, 2}, 5).t(), with_gaps({2}, 6)}));
  EXPECT_TRUE(gradients_match(layer, {gradcheck_values({4, 3}, 3), weight, gradcheck_values({1}, 7)}));
}

TEST(Products, RefuseShapesWithPyTorchsTexts) {
  expect_error("shape-mismatch", "mat1 and mat2 shapes cannot be multiplied (4x4 and 3x4)",
               [] { matmul(ones({4, 4}), ones({3, 4})); });
  expect_error("shape-mismatch", "mat1 and mat2 shapes cannot be multiplied (6x3 and 4x5)",
               [] { matmul(ones({2, 3, 3}), ones({4, 5})); });
  expect_error("shape-mismatch", "mat1 and mat2 shapes cannot be multiplied (6x3 and 4x5)",
               [] { linear(ones({2, 3, 3}), ones({5, 4}), ones({5})); });
  expect_error("shape-mismatch", "both arguments to matmul need to be at least 1D, but they are 0D and 2D",
               [] { matmul(ones({}), ones({3, 4})); });
  expect_error("shape-mismatch",
               "inconsistent tensor size, expected tensor [3] and src [4] to have the same number of elements, but got "
               "3 and 4 elements respectively",
               [] { matmul(ones({3}), ones({4})); });
  expect_error("shape-mismatch", "self must be a matrix", [] { mm(ones({3}), ones({3, 4})); });
  expect_error("shape-mismatch", "batch2 must be a 3D tensor", [] { bmm(ones({2, 3, 4}), ones({4, 5})); });
  expect_error("shape-mismatch",
               "Expected size for first two dimensions of batch2 tensor to be: [2, 4] but got: [2, 3].",
               [] { bmm(ones({2, 3, 4}), ones({2, 3, 4})); });
  expect_error("shape-mismatch",
               "The expanded size of the tensor (4) must match the existing size (3) at non-singleton dimension 1.  "
               "Target sizes: [2, 4].  Tensor sizes: [3]",
               [] { linear(ones({2, 5}), ones({4, 5}), ones({3})); });
}

TEST(Products, RefuseTypesWithPyTorchsTexts) {
  AttachedCard card;
  const Tensor f = ones({2, 2}), h = ones({2, 2}, kF16), here = f.to("sim:0"), half = h.to("sim:0");
  expect_error("dtype-mismatch", "expected m1 and m2 to have the same dtype, but got: float != c10::Half",
               [&] { matmul(f, h); });
  expect_error("dtype-mismatch", "expected mat1 and mat2 to have the same dtype, but got: float != c10::Half",
               [&] { matmul(here, half); });
  expect_error("dtype-mismatch", "mat1 and mat2 must have the same dtype, but got Half and Float",
               [&] { linear(half, here, here[0]); });
  expect_error("dtype-mismatch", "self and mat2 must have the same dtype, but got Half and Float",
               [&] { linear(f, f, h[0]); });
  expect_error("dtype-mismatch", "\"addmm\" not implemented for 'Long'",
               [] { matmul(ones({2, 2}, kI64), ones({2, 2}, kI64)); });
}

}  // namespace
}  // namespace labrig
