// Elementwise operators on every device: all pairs of types, all kinds of layouts, exact to the bit.
#include <cmath>
#include <limits>

#include "contract.hpp"
#include "ops/strided.hpp"

namespace labrig::contract {
namespace {

class Elementwise : public DeviceContract {};

using Operator = Tensor (*)(const Tensor&, const Tensor&);
using Oracle = double (*)(double, double);
struct Named {
  const char* name;
  Operator run;
  Oracle expected;
};
const Named kOperators[] = {
    {"add", [](const Tensor& a, const Tensor& b) { return add(a, b); }, [](double a, double b) { return a + b; }},
    {"sub", [](const Tensor& a, const Tensor& b) { return sub(a, b); }, [](double a, double b) { return a - b; }},
    {"mul", [](const Tensor& a, const Tensor& b) { return mul(a, b); }, [](double a, double b) { return a * b; }},
    {"div", [](const Tensor& a, const Tensor& b) { return div(a, b); }, [](double a, double b) { return a / b; }},
};

std::vector<double> zipped(const Tensor& a, const Tensor& b, const Dims& sizes, Oracle oracle) {
  const auto left = values(a.expand(sizes)), right = values(b.expand(sizes));
  std::vector<double> result(left.size());
  for (std::size_t i = 0; i < result.size(); ++i) result[i] = oracle(left[i], right[i]);
  return result;
}

void expect_same(const std::vector<double>& actual, const std::vector<double>& expected, const std::string& what) {
  ASSERT_EQ(actual.size(), expected.size()) << what;
  for (std::size_t i = 0; i < actual.size(); ++i) {
    if (std::isnan(expected[i]))
      ASSERT_TRUE(std::isnan(actual[i])) << what << " at " << i;
    else
      ASSERT_EQ(actual[i], expected[i]) << what << " at " << i;
  }
}

TEST_P(Elementwise, ComputesEveryPairOfTypesInThePromotedType) {
  for (const Dtype left : kAllTypes) {
    for (const Dtype right : kAllTypes) {
      const Tensor a = host_sample({7, 5}, left, 1), b = host_sample({7, 5}, right, 2);
      for (const Named& op : kOperators) {
        if (std::string(op.name) == "sub" && left == kBool && right == kBool) continue;
        const std::string what = std::string(op.name) + " of " + name_of(left) + " and " + name_of(right);
        const Tensor result = op.run(a.to(device), b.to(device));
        EXPECT_EQ(result.device(), device);
        expect_same(values(result), rounded(zipped(a, b, {7, 5}, op.expected), result.dtype()), what);
      }
    }
  }
}

TEST_P(Elementwise, BroadcastsAndWalksEveryLayout) {
  const Tensor grid = sample({4, 6, 5}, kF32, 3), row = sample({5}, kF32, 4), column = sample({6, 1}, kF32, 5);
  const Tensor left[] = {grid,
                         grid.transpose(1, 2).contiguous().transpose(1, 2),
                         grid.slice(0, 0, 4, 2),
                         column,
                         grid[1],
                         row.unsqueeze(0).expand({6, 5}),
                         grid.narrow(2, 1, 1),
                         grid.permute({1, 0, 2}).slice(1, 0, 4, 4)};
  const Tensor right[] = {row, column, grid[2], full({}, 0.5, device), grid.select(1, 0).narrow(0, 1, 1)};
  for (const Tensor& a : left) {
    for (const Tensor& b : right) {
      const Dims sizes = broadcast_sizes(a.sizes(), b.sizes());
      for (const Named& op : kOperators) {
        expect_same(values(op.run(a, b)), rounded(zipped(a, b, sizes, op.expected), kF32),
                    std::string(op.name) + a.sizes().str() + b.sizes().str());
        expect_same(values(op.run(b, a)), rounded(zipped(b, a, sizes, op.expected), kF32),
                    std::string(op.name) + " reversed");
      }
    }
  }
}

TEST_P(Elementwise, HandlesLongRowsOfMixedTypes) {
  const Tensor a = host_sample({3, 2000}, kF16, 6), b = host_sample({2000}, kF32, 7);
  expect_same(values(add(a.to(device), b.to(device))), zipped(a, b, {3, 2000}, kOperators[0].expected), "f16 + f32");
  const Tensor c = host_sample({3, 1}, kI64, 8);
  expect_same(values(mul(c.to(device), b.to(device))), zipped(c, b, {3, 2000}, kOperators[2].expected), "i64 * f32");
}

TEST_P(Elementwise, TakesNumbers) {
  for (const Dtype dtype : kAllTypes) {
    if (dtype == kBool) continue;
    const Tensor x = host_sample({33}, dtype, 9), there = x.to(device);
    const Tensor three = full({}, 3, kF64);
    expect_same(values(there + 3), rounded(zipped(x, three, {33}, kOperators[0].expected), dtype), name_of(dtype));
    expect_same(values(there - 3), rounded(zipped(x, three, {33}, kOperators[1].expected), dtype), name_of(dtype));
    expect_same(values(there * 3), rounded(zipped(x, three, {33}, kOperators[2].expected), dtype), name_of(dtype));
    const Tensor quotient = there / 3;
    expect_same(values(quotient), rounded(zipped(x, three, {33}, kOperators[3].expected), quotient.dtype()),
                name_of(dtype));
  }
}

TEST_P(Elementwise, ChangesATensorInPlaceAndNothingBesideIt) {
  const Tensor buffer = full({6, 8}, 100, device);
  const Tensor inside = buffer.narrow(0, 1, 4).narrow(1, 2, 5);
  inside.zero_();
  add_(inside, put({1, 2, 3, 4, 5}, {5}));
  mul_(inside, put({2}, {1}));
  sub_(inside, put({1, 1, 1, 1}, {4, 1}));
  div_(inside, put({0.5}, {1}, kF16));
  const auto all = values(buffer);
  for (int row = 0; row < 6; ++row) {
    for (int column = 0; column < 8; ++column) {
      const bool in = row >= 1 && row < 5 && column >= 2 && column < 7;
      EXPECT_EQ(all[static_cast<std::size_t>(row * 8 + column)], in ? ((column - 1) * 2 - 1) / 0.5 : 100);
    }
  }
}

TEST_P(Elementwise, AddsATensorToItself) {
  const Tensor x = sample({1000}, kF32, 10);
  const auto before = values(x);
  add_(x, x);
  const auto after = values(x);
  for (std::size_t i = 0; i < before.size(); ++i) EXPECT_EQ(after[i], 2 * before[i]);
}

TEST_P(Elementwise, WrapsIntegers) {
  const std::int64_t big = std::numeric_limits<std::int64_t>::max();
  const Tensor x = tensor<std::int64_t>({big, -big}).to(device);
  EXPECT_EQ(add(x, x).cpu().data<std::int64_t>()[0], -2);
  EXPECT_EQ((put({200, 100}, {2}, kU8) + 100).cpu().data<std::uint8_t>()[0], 44);
}

TEST_P(Elementwise, CutsNegativeValuesAndKeepsNaN) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  for (const Dtype dtype : kFloatTypes) {
    const auto cut = values(relu(put({-1, 0, 2, nan, -INFINITY}, {5}, dtype)));
    EXPECT_EQ(std::vector<double>(cut.begin(), cut.begin() + 3), (std::vector<double>{0, 0, 2}));
    EXPECT_TRUE(std::isnan(cut[3]));
    EXPECT_EQ(cut[4], 0);
  }
  EXPECT_EQ(values(neg(put({1, -2, 0}, {3}, kI32))), (std::vector<double>{-1, 2, 0}));
  EXPECT_TRUE(std::signbit(values(neg(put({0}, {1})))[0]));
}

TEST_P(Elementwise, FillsWhereTheMaskIsTrue) {
  const Tensor x = put({1, 2, 3, 4, 5, 6}, {2, 3}), mask = put({1, 0, 1}, {3}, kBool);
  EXPECT_EQ(values(masked_fill(x, mask, -1)), (std::vector<double>{-1, 2, -1, -1, 5, -1}));
  EXPECT_EQ(values(masked_fill(x.t(), mask.unsqueeze(1), 0)), (std::vector<double>{0, 0, 2, 5, 0, 0}));
  EXPECT_EQ(masked_fill(x.to(kF16), mask, 1).dtype(), kF16);
}

TEST_P(Elementwise, ConvertsEveryTypeToEveryOther) {
  for (const Dtype from : kAllTypes) {
    for (const Dtype to : kAllTypes) {
      const Tensor x = host_sample({3, 17}, from, 11);
      const Tensor there = x.to(device).t();
      const Tensor converted = there.to(to);
      EXPECT_EQ(converted.dtype(), to);
      expect_same(values(converted), values(x.t().to(to)), std::string(name_of(from)) + " to " + name_of(to));
    }
  }
}

TEST_P(Elementwise, ConvertsValuesThatDoNotFitInTheSameWay) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const std::vector<float> hard = {nan, INFINITY, -INFINITY, 1e30F, -1e30F, 3e9F, 70000, 300, -1, -0.5F, 0.99F, 1e-30F};
  const Dims sizes{static_cast<std::int64_t>(hard.size())};
  for (const Dtype to : kAllTypes) {
    const auto converted = values(put(hard, sizes).to(to));
    for (std::size_t i = 0; i < hard.size(); ++i) {
      const double expected =
          kernels::dispatch(to, [&]<class T>() { return kernels::convert<double>(kernels::convert<T>(hard[i])); });
      if (std::isnan(expected))
        EXPECT_TRUE(std::isnan(converted[i])) << name_of(to) << " from " << hard[i];
      else
        EXPECT_EQ(converted[i], expected) << name_of(to) << " from " << hard[i];
    }
  }
}

TEST_P(Elementwise, FillsAndCounts) {
  for (const Dtype dtype : kAllTypes) {
    EXPECT_EQ(values(full({3}, 1, {dtype, device})), (std::vector<double>{1, 1, 1}));
    if (dtype == kBool) continue;
    EXPECT_EQ(values(arange(4, {dtype, device})), (std::vector<double>{0, 1, 2, 3}));
  }
  const Tensor grid = zeros({3, 4}, device);
  grid.select(1, 2).fill_(5);
  EXPECT_EQ(values(grid), (std::vector<double>{0, 0, 5, 0, 0, 0, 5, 0, 0, 0, 5, 0}));
}

TEST_P(Elementwise, DoesNothingToEmptyTensors) {
  const Tensor x = zeros({0, 3}, device);
  EXPECT_EQ(add(x, x).sizes(), Dims({0, 3}));
  EXPECT_EQ(relu(x).numel(), 0);
  EXPECT_EQ(add(x, zeros({1, 3}, device)).sizes(), Dims({0, 3}));
}

INSTANTIATE_TEST_SUITE_P(Every, Elementwise, testing::Values("cpu", "sim:0", "cuda:0"),
                         [](const auto& parameter) { return std::string(name_of(Device(parameter.param).type())); });

}  // namespace
}  // namespace labrig::contract
