// Elementwise operators: values and types, what PyTorch refuses, and gradients against differences. What every device
// must compute is in tests/contract.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "expect_error.hpp"
#include "fake_card.hpp"
#include "labrig/memory.hpp"
#include "labrig/ops.hpp"
#include "labrig/random.hpp"
#include "support/gradcheck.hpp"

namespace labrig {
namespace {

using test::AttachedCard;
using test::error_of;
using test::expect_error;
using test::gradcheck_values;
using test::gradients_match;
using test::Tensors;

const Device kCard("sim:0");
constexpr double kInf = std::numeric_limits<double>::infinity();

Tensor of(const std::vector<double>& values, Dtype dtype = kF32) { return tensor<double>(values).to(dtype); }

void expect_values(const Tensor& tensor, const std::vector<double>& expected, double tolerance = 1e-6) {
  const std::vector<double> values = test::gradcheck::values_of(tensor);
  ASSERT_EQ(values.size(), expected.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (std::isnan(expected[i]))
      EXPECT_TRUE(std::isnan(values[i])) << i;
    else if (std::isinf(expected[i]))
      EXPECT_EQ(values[i], expected[i]) << i;
    else
      EXPECT_NEAR(values[i], expected[i], tolerance * std::max(1.0, std::fabs(expected[i]))) << i;
  }
}

// Positive values, for log, sqrt and as divisors.
Tensor positive(const Dims& sizes, std::uint32_t seed) {
  const Tensor x = gradcheck_values(sizes, seed);
  return mul(x, x);
}

// --- values
// ------------------------------------------------------------------------------------------------------------

struct Formula {
  const char* name;
  Tensor (*operation)(const Tensor&);
  double (*expected)(double);
};
const Formula kFormulas[] = {
    {"exp", exp, [](double x) { return std::exp(x); }},
    {"log", log, [](double x) { return std::log(x); }},
    {"sqrt", sqrt, [](double x) { return std::sqrt(x); }},
    {"tanh", tanh, [](double x) { return std::tanh(x); }},
    {"sigmoid", sigmoid, [](double x) { return 1 / (1 + std::exp(-x)); }},
    {"neg", neg, [](double x) { return -x; }},
    {"relu", relu, [](double x) { return x < 0 ? 0 : x; }},
    {"gelu", [](const Tensor& x) { return gelu(x); }, [](double x) { return x * std::erfc(-x / std::sqrt(2.0)) / 2; }},
    {"gelu_tanh", [](const Tensor& x) { return gelu(x, Gelu::tanh); },
     [](double x) { return x / 2 * (1 + std::tanh(std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x))); }},
};

TEST(Functions, HaveTheirValuesInEveryFloatTypeAndRoundOnce) {
  const std::vector<double> points{-80, -3.5, -1, -0.125, 0, 0.0625, 0.5, 1, 2.75, 9, 80, NAN};
  for (const Formula& formula : kFormulas) {
    for (const Dtype dtype : {kF32, kF64, kF16, kBF16}) {
      SCOPED_TRACE(std::string(formula.name) + " of " + name_of(dtype));
      const Tensor x = of(points, dtype);
      std::vector<double> expected;
      for (const double point : points) expected.push_back(formula.expected(point));
      const Tensor result = formula.operation(x);
      EXPECT_EQ(result.dtype(), dtype);
      // 16-bit results are those of f32, rounded once.
      if (element_bytes(dtype) == 2) {
        expect_values(result, test::gradcheck::values_of(formula.operation(x.to(kF32)).to(dtype)), 0);
      } else {
        expect_values(result, expected, dtype == kF64 ? 1e-14 : 2e-6);
      }
    }
  }
}

TEST(Functions, OfWholeNumbersGiveF32WherePyTorchDoes) {
  const Tensor ints = of({1, 4}, kI64);
  for (const Formula& formula : {kFormulas[0], kFormulas[1], kFormulas[2], kFormulas[3], kFormulas[4]}) {
    EXPECT_EQ(formula.operation(ints).dtype(), kF32) << formula.name;
  }
  expect_values(sqrt(ints), {1, 2});
  EXPECT_EQ(exp(of({1}, kBool)).dtype(), kF32);
  EXPECT_EQ(relu(ints).dtype(), kI64);
  EXPECT_EQ(neg(of({1}, kU8)).item<int>(), 255);
  expect_error("dtype-mismatch", "\"GeluKernelImpl\" not implemented for 'Long'", [&] { gelu(ints); });
  expect_error("result-type", "result type Float can't be cast to the desired output type Long", [&] { exp_(ints); });
  expect_error("result-type", "Boolean inputs not supported for relu", [&] { relu_(of({1}, kBool)); });
}

TEST(Clamp, LimitsOnEitherSideAndKeepsNaN) {
  const Tensor x = of({-2, 0.5, 3, NAN});
  expect_values(clamp(x, -1, 1), {-1, 0.5, 1, NAN});
  expect_values(clamp(x, -kInf, 1), {-2, 0.5, 1, NAN});
  expect_values(clamp(x, 2, 1), {1, 1, 1, NAN});
  expect_values(clamp(x, NAN, 1), {NAN, NAN, NAN, NAN});
  const Tensor ints = of({-5, 0, 5}, kI32);
  EXPECT_EQ(clamp(ints, 0, kInf).dtype(), kI32);
  expect_values(clamp(ints, 0, kInf), {0, 0, 5});
  EXPECT_EQ(clamp(ints, -0.5, 3).dtype(), kF32);
  expect_error("result-type", "result type Float can't be cast to the desired output type Int",
               [&] { clamp_(ints, 0.5, 1); });
}

TEST(Comparison, ComparesInThePromotedTypeAndGivesBool) {
  const Tensor a = of({1, 2, 3, NAN}), b = of({2, 2, 2, NAN}, kF64);
  const std::pair<Tensor (*)(const Tensor&, const Tensor&), std::vector<double>> kCases[] = {
      {eq, {0, 1, 0, 0}}, {ne, {1, 0, 1, 1}}, {lt, {1, 0, 0, 0}},
      {le, {1, 1, 0, 0}}, {gt, {0, 0, 1, 0}}, {ge, {0, 1, 1, 0}}};
  for (const auto& [compare, expected] : kCases) {
    EXPECT_EQ(compare(a, b).dtype(), kBool);
    expect_values(compare(a, b), expected);
  }
  EXPECT_EQ(lt(zeros({2, 1}), zeros({3})).sizes(), Dims({2, 3}));
  expect_values(gt(of({1, 2, 3}, kI64), 2.5), {0, 0, 1});
  expect_values(eq(of({0.1}, kF16), full({}, 0.1, kF64)), {1});
  expect_values(eq(of({-1}, kI32), of({255}, kU8)), {0});
  AttachedCard card;
  expect_values(ge(full({2}, 6, kCard), full({}, 6)), {1, 1});
}

TEST(Where, ChoosesWithBroadcastingAndPromotion) {
  const Tensor mask = of({1, 0}, kBool);
  const Tensor result = where(mask, of({1, 2}, kI64), full({2, 1}, 0.5, kF16));
  EXPECT_EQ(result.dtype(), kF16);
  EXPECT_EQ(result.sizes(), Dims({2, 2}));
  expect_values(result, {1, 0.5, 1, 0.5});
  expect_error("dtype-mismatch", "where expected condition to be a boolean tensor, but got a tensor with dtype Long",
               [&] { where(of({1, 0}, kI64), mask, mask); });
  AttachedCard card;
  expect_values(where(mask.to(kCard), full({2}, 3, kCard), full({}, 4)), {3, 4});
}

TEST(InPlace, ChangesTheTensorItselfAndCountsIt) {
  const Tensor x = of({1, 4});
  EXPECT_TRUE(sqrt_(x).is_same(x));
  expect_values(x, {1, 2});
  expect_values(neg_(clamp_(x, 1.5, 9)), {-1.5, -2});
  expect_values(relu_(add_(x, 1.75)), {0.25, 0});
  expect_values(masked_fill_(x, of({0, 1}, kBool), 7), {0.25, 7});
  expect_values(div_(mul_(sub_(x, 1), 4), 2), {-1.5, 12});
  EXPECT_EQ(x.version(), 9u);
  expect_error("result-type", "result type Float can't be cast to the desired output type Long",
               [] { mul_(of({1}, kI64), 0.5); });
  expect_error("shape-mismatch", "output with shape [2] doesn't match the broadcast shape [3, 2]",
               [&] { masked_fill_(x, zeros({3, 2}, kBool), 1); });
}

TEST(InPlace, IsRefusedForALeafThatRequiresAGradient) {
  const Tensor leaf = of({1, 2}).requires_grad_();
  const char* const text = "a leaf Variable that requires grad is being used in an in-place operation.";
  expect_error("leaf-in-place", text, [&] { add_(leaf, 1); });
  expect_error("leaf-in-place", text, [&] { mul_(leaf, of({1, 2})); });
  expect_error("leaf-in-place", text, [&] { exp_(leaf); });
  expect_error("leaf-in-place", text, [&] { clamp_(leaf, 0, 1); });
  expect_error("leaf-in-place", text, [&] { masked_fill_(leaf, zeros({2}, kBool), 0); });
  expect_values(leaf, {1, 2});
}

// --- losses
// ------------------------------------------------------------------------------------------------------------

TEST(MseLoss, AveragesSumsOrLeavesTheSquares) {
  const Tensor x = of({1, 2, 4}), target = of({0, 2, 1});
  expect_values(mse_loss(x, target), {10.0 / 3});
  expect_values(mse_loss(x, target, Reduction::sum), {10});
  expect_values(mse_loss(x, target, Reduction::none), {1, 0, 9});
  expect_error("dtype-mismatch", "\"mse_cuda\" not implemented for 'Long'",
               [] { mse_loss(of({1}, kI64), of({1}, kI64)); });
  const Tensor leaf = of({1, 2, 4}).requires_grad_();
  const Tensor loss = mse_loss(leaf, of({0, 2, 1}, kF64));
  EXPECT_EQ(loss.dtype(), kF64);
  expect_error("dtype-mismatch", "Found dtype Double but expected Float", [&] { loss.backward(); });
}

TEST(BceWithLogits, StaysFiniteForAnyScore) {
  const Tensor x = of({1000, -1000, 0, 1000}), target = of({1, 0, 1, 0});
  expect_values(binary_cross_entropy_with_logits(x, target, Reduction::none), {0, 0, std::log(2.0), 1000});
  expect_values(binary_cross_entropy_with_logits(x, target), {(std::log(2.0) + 1000) / 4});
  expect_error("shape-mismatch", "Target size (torch.Size([4, 1])) must be the same as input size (torch.Size([4]))",
               [&] { binary_cross_entropy_with_logits(x, target.unsqueeze(1)); });
}

// --- gradients
// -----------------------------------------------------------------------------------------------------------

// Shapes that are special: none, no elements, one of them repeated, gaps between elements.
std::vector<std::pair<Tensor, Tensor>> pairs() {
  const Tensor a = gradcheck_values({2, 3}, 1), b = gradcheck_values({3}, 2);
  return {{a, b},
          {a.t(), gradcheck_values({3, 1}, 3).expand({3, 2})},
          {gradcheck_values({}, 4), gradcheck_values({}, 5)},
          {gradcheck_values({}, 4), a},
          {a.narrow(1, 1, 0), gradcheck_values({2, 1}, 6)},
          {gradcheck_values({4, 6}, 7).slice(1, 0, 6, 2), gradcheck_values({2, 4, 1}, 8)}};
}

TEST(Gradient, OfArithmeticMatchesDifferences) {
  using Operation = Tensor (*)(const Tensor&, const Tensor&);
  for (const Operation operation : {Operation(add), Operation(sub), Operation(mul), Operation(div)}) {
    for (const auto& [a, b] : pairs()) {
      EXPECT_TRUE(gradients_match([&](const Tensors& x) { return operation(x[0], x[1]); }, {a, b}))
          << a.sizes().str() << b.sizes().str();
    }
  }
  const Tensor a = gradcheck_values({2, 3}, 1);
  EXPECT_TRUE(gradients_match([](const Tensors& x) { return (x[0] * 3 - 2) / 4 + 1; }, {a}));
}

TEST(Gradient, OfArithmeticInPlaceMatchesDifferences) {
  using Operation = const Tensor& (*)(const Tensor&, const Tensor&);
  for (const Operation operation : {Operation(add_), Operation(sub_), Operation(mul_), Operation(div_)}) {
    const auto in_place = [&](const Tensors& x) {
      const Tensor copy = x[0] * 2;
      operation(copy, x[1]);
      return operation(copy, copy);
    };
    EXPECT_TRUE(gradients_match(in_place, {gradcheck_values({2, 3}, 1), gradcheck_values({3}, 2)}));
  }
  const auto numbers = [](const Tensors& x) {
    const Tensor copy = x[0] * 1;
    return div_(mul_(sub_(add_(copy, 3), 1), 5), 2);
  };
  EXPECT_TRUE(gradients_match(numbers, {gradcheck_values({2, 3}, 1)}));
}

TEST(Gradient, OfFunctionsMatchesDifferences) {
  for (const Formula& formula : kFormulas) {
    const auto operation = [&](const Tensors& x) { return formula.operation(x[0]); };
    for (const Tensor& x : {positive({2, 3}, 1), positive({3, 4}, 2).t(), positive({}, 3), positive({0, 2}, 4),
                            positive({3, 1}, 5).expand({3, 2})}) {
      EXPECT_TRUE(gradients_match(operation, {x})) << formula.name << x.sizes().str();
      const bool of_positive = formula.operation == log || formula.operation == sqrt;
      if (!of_positive) {
        EXPECT_TRUE(gradients_match(operation, {neg(x)})) << formula.name;
      }
    }
  }
}

TEST(Gradient, OfFunctionsInPlaceMatchesDifferences) {
  using Operation = const Tensor& (*)(const Tensor&);
  for (const Operation operation : {neg_, exp_, log_, sqrt_, tanh_, sigmoid_, relu_}) {
    EXPECT_TRUE(gradients_match([&](const Tensors& x) { return operation(x[0] * 1); }, {positive({2, 3}, 1)}));
  }
  const Tensor values = gradcheck_values({2, 3}, 1);
  EXPECT_TRUE(gradients_match([](const Tensors& x) { return clamp_(x[0] * 1, -1, 0.5); }, {values}));
  const Tensor mask = of({1, 0, 0}, kBool);
  EXPECT_TRUE(gradients_match([&](const Tensors& x) { return masked_fill_(x[0] * 1, mask, 3); }, {values}));
}

TEST(Gradient, OfSelectionMatchesDifferences) {
  const Tensor a = gradcheck_values({2, 3}, 1), mask = of({1, 0, 1}, kBool);
  const auto choice = [&](const Tensors& x) { return where(mask, x[0], x[1]); };
  EXPECT_TRUE(gradients_match(choice, {a, gradcheck_values({2, 1}, 2)}));
  EXPECT_TRUE(gradients_match(choice, {gradcheck_values({}, 3), a}));
  EXPECT_TRUE(gradients_match([&](const Tensors& x) { return masked_fill(x[0], mask, 9); }, {a}));
  EXPECT_TRUE(
      gradients_match([&](const Tensors& x) { return masked_fill(x[0], mask, 9); }, {gradcheck_values({2, 1}, 2)}));
  EXPECT_TRUE(gradients_match([](const Tensors& x) { return clamp(x[0], -1, 0.5); }, {a.t()}));
}

TEST(Gradient, OfLossesMatchesDifferences) {
  for (const Reduction reduction : {Reduction::none, Reduction::mean, Reduction::sum}) {
    const auto mse = [&](const Tensors& x) { return mse_loss(x[0], x[1], reduction); };
    const auto bce = [&](const Tensors& x) { return binary_cross_entropy_with_logits(x[0], x[1], reduction); };
    EXPECT_TRUE(gradients_match(mse, {gradcheck_values({2, 3}, 1), gradcheck_values({3}, 2)}));
    EXPECT_TRUE(gradients_match(mse, {gradcheck_values({3, 2}, 1).t(), gradcheck_values({}, 2)}));
    EXPECT_TRUE(gradients_match(bce, {gradcheck_values({3, 2}, 1).t(), sigmoid(gradcheck_values({2, 3}, 2))}));
    EXPECT_TRUE(gradients_match(bce, {gradcheck_values({}, 1), gradcheck_values({}, 2)}));
  }
}

TEST(Gradient, GoesThroughDropoutWhereTheValueDid) {
  const auto operation = [](const Tensors& x) {
    manual_seed(5);
    return dropout(x[0], 0.4);
  };
  EXPECT_TRUE(gradients_match(operation, {gradcheck_values({4, 5}, 1)}));
  EXPECT_TRUE(gradients_match(operation, {gradcheck_values({4, 5}, 1).t()}));
  EXPECT_TRUE(gradients_match(operation, {gradcheck_values({3, 1}, 1).expand({3, 4})}));
}

TEST(Gradient, HasTheTypeAndTheDeviceOfItsInput) {
  AttachedCard card;
  const Tensor number = full({}, 2).requires_grad_(), x = full({3}, 1.5, {kF16, kCard}).requires_grad_();
  sum(mul(x, number)).backward();
  EXPECT_TRUE(number.grad().device().is_cpu());
  EXPECT_EQ(number.grad().dtype(), kF32);
  expect_values(number.grad(), {4.5});
  EXPECT_EQ(x.grad().dtype(), kF16);
  EXPECT_EQ(x.grad().device(), kCard);
  const Tensor wide = full({2}, 3, kF64).requires_grad_(), narrow = full({2}, 3).requires_grad_();
  sum(div(narrow, wide)).backward();
  EXPECT_EQ(narrow.grad().dtype(), kF32);
  EXPECT_EQ(wide.grad().dtype(), kF64);
}

TEST(Gradient, NamesItsStepsAsPyTorchDoes) {
  const Tensor x = ones({2}).requires_grad_(), mask = zeros({2}, kBool);
  const std::pair<Tensor, const char*> kSteps[] = {
      {x + x, "AddBackward0"},
      {x - 1, "SubBackward0"},
      {x * 2, "MulBackward0"},
      {x / x, "DivBackward0"},
      {neg(x), "NegBackward0"},
      {exp(x), "ExpBackward0"},
      {log(x), "LogBackward0"},
      {sqrt(x), "SqrtBackward0"},
      {tanh(x), "TanhBackward0"},
      {sigmoid(x), "SigmoidBackward0"},
      {relu(x), "ReluBackward0"},
      {gelu(x), "GeluBackward0"},
      {dropout(x), "NativeDropoutBackward0"},
      {clamp(x, 0, 1), "ClampBackward1"},
      {where(mask, x, x), "WhereBackward0"},
      {masked_fill(x, mask, 0), "MaskedFillBackward0"},
      {mse_loss(x, x), "MseLossBackward0"},
      {binary_cross_entropy_with_logits(x, x), "BinaryCrossEntropyWithLogitsBackward0"},
  };
  for (const auto& [result, name] : kSteps) EXPECT_EQ(result.grad_fn(), name);
  EXPECT_FALSE(eq(x, x).requires_grad());
}

// Beside input and result nothing stays alive for the way back.
TEST(Gradient, KeepsOnlyWhatIsAliveAnyway) {
  AttachedCard card;
  const Tensor x = full({1024}, 0.5, kCard).requires_grad_(), other = full({1024}, 0.25, kCard);
  const auto kept_bytes = [&](auto operation) {
    const auto bytes = [] { return memory_stats(kCard).at("requested_bytes.all.current"); };
    const auto before = bytes();
    const Tensor result = operation();
    EXPECT_TRUE(result.requires_grad());
    return bytes() - before;
  };
  for (const Formula& formula : kFormulas) {
    EXPECT_EQ(kept_bytes([&] { return formula.operation(x); }), 4096) << formula.name;
  }
  EXPECT_EQ(kept_bytes([&] { return dropout(x); }), 4096);
  EXPECT_EQ(kept_bytes([&] { return clamp(x, 0, 1); }), 4096);
  EXPECT_EQ(kept_bytes([&] { return x / other; }), 4096);
  EXPECT_EQ(kept_bytes([&] { return mse_loss(x, other); }), 4);
  EXPECT_EQ(kept_bytes([&] { return binary_cross_entropy_with_logits(x, other); }), 4);
}

TEST(Fill, RefusesANumberThatTheTypeCannotHold) {
  const auto mask = ones({1}, kBool);
  expect_error("value-overflow", "value cannot be converted to type at::Half without overflow",
               [&] { masked_fill(zeros({1}, kF16), mask, -1e9); });
  expect_error("value-overflow", "value cannot be converted to type uint8_t without overflow",
               [] { zeros({1}, kU8).fill_(300); });
  expect_error("value-overflow", "value cannot be converted to type int without overflow",
               [] { full({1}, 1e10, kI32); });
  expect_error("value-overflow", "value cannot be converted to type int64_t without overflow",
               [] { full({1}, 0x1p63, kI64); });
  EXPECT_EQ(full({}, -0x1p63, kI64).item<std::int64_t>(), std::numeric_limits<std::int64_t>::min());
  EXPECT_EQ(full({}, -INFINITY, kF16).item(), -INFINITY);
  EXPECT_EQ(full({}, 65504, kF16).item(), 65504);
  EXPECT_EQ(add(full({}, 1, kF16), 1e10).item(), INFINITY);  // computed, not given
  EXPECT_EQ(full({1}, -NAN).str().find('-'), std::string::npos);
}

}  // namespace
}  // namespace labrig
