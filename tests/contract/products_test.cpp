// Matrix products and reductions on every device.
#include <cmath>
#include <limits>

#include "contract.hpp"

namespace labrig::contract {
namespace {

class Products : public DeviceContract {};

std::vector<double> product(const Tensor& a, const Tensor& b) {
  const std::int64_t m = a.size(0), k = a.size(1), n = b.size(1);
  const auto left = values(a), right = values(b);
  std::vector<double> result(static_cast<std::size_t>(m * n));
  for (std::int64_t i = 0; i < m; ++i) {
    for (std::int64_t j = 0; j < n; ++j) {
      double sum = 0;
      for (std::int64_t l = 0; l < k; ++l) {
        sum += left[static_cast<std::size_t>(i * k + l)] * right[static_cast<std::size_t>(l * n + j)];
      }
      result[static_cast<std::size_t>(i * n + j)] = sum;
    }
  }
  return result;
}

TEST_P(Products, AreExactForEveryFloatingPointTypeAndSize) {
  const int sizes[][3] = {{1, 1, 1}, {2, 3, 4}, {7, 13, 5}, {16, 16, 16}, {33, 9, 65}, {1, 100, 1}, {64, 1, 64}};
  for (const Dtype dtype : kFloatTypes) {
    for (const auto& [m, k, n] : sizes) {
      const Tensor a = host_sample({m, k}, dtype, 1), b = host_sample({k, n}, dtype, 2);
      EXPECT_EQ(values(matmul(a.to(device), b.to(device))), rounded(product(a, b), dtype))
          << name_of(dtype) << " " << m << "x" << k << "x" << n;
    }
  }
}

TEST_P(Products, ReadOperandsOfAnyLayout) {
  const Tensor a = sample({9, 9}, kF32, 3), b = sample({9, 9}, kF32, 4), wide = sample({9, 20}, kF32, 5);
  const Tensor lefts[] = {a,
                          a.t(),
                          wide.narrow(1, 3, 9),
                          wide.slice(1, 0, 18, 2),
                          wide.slice(1, 1, 19, 2).t(),
                          a.narrow(0, 2, 1).expand({9, 9})};
  const Tensor rights[] = {b, b.t(), wide.narrow(1, 11, 9).t(), a.select(1, 0).unsqueeze(1).expand({9, 9})};
  for (const Tensor& left : lefts) {
    for (const Tensor& right : rights) {
      EXPECT_EQ(values(matmul(left, right)), product(left, right)) << left.strides().str() << right.strides().str();
    }
  }
}

TEST_P(Products, TakeVectorsAsRowsAndColumns) {
  const Tensor a = put({1, 2, 3, 4, 5, 6}, {2, 3}), v = put({1, 0, -1}, {3}), w = put({1, 2}, {2});
  EXPECT_EQ(matmul(a, v).sizes(), Dims({2}));
  EXPECT_EQ(values(matmul(a, v)), (std::vector<double>{-2, -2}));
  EXPECT_EQ(values(matmul(w, a)), (std::vector<double>{9, 12, 15}));
  EXPECT_EQ(matmul(v, v).sizes(), Dims());
  EXPECT_EQ(matmul(v, v).item(), 2);
}

TEST_P(Products, OfNothingAreZero) {
  EXPECT_EQ(values(matmul(zeros({2, 0}, device), zeros({0, 3}, device))), std::vector<double>(6, 0.0));
  EXPECT_EQ(matmul(zeros({0, 4}, device), zeros({4, 3}, device)).sizes(), Dims({0, 3}));
}

TEST_P(Products, StayCloseToDoubleForUnroundedValues) {
  Tensor a = empty({40, 200}, kF64), b = empty({200, 30}, kF64);
  std::uint32_t seed = 7;
  for (const Tensor& x : {a, b}) {
    for (double& value : x.data<double>()) {
      seed = seed * 1664525 + 1013904223;
      value = static_cast<double>(seed) / 4294967296.0 - 0.5;
    }
  }
  a = a.to(kF32);
  b = b.to(kF32);
  const auto expected = product(a, b), actual = values(matmul(a.to(device), b.to(device)));
  for (std::size_t i = 0; i < expected.size(); ++i) ASSERT_NEAR(actual[i], expected[i], 2e-5);
}

TEST_P(Products, GiveTheSameBitsTwice) {
  const Tensor a = sample({50, 70}, kF32, 8), b = sample({70, 30}, kF32, 9);
  EXPECT_EQ(values(matmul(a, b)), values(matmul(a, b)));
}

// --- reductions ----------------------------------------------------------------------------------------------------

class Reductions : public DeviceContract {};

// Over dimension `dim` of a 3-d tensor.
template <class Fold>
std::vector<double> folded(const Tensor& x, int dim, double start, Fold fold) {
  const Tensor moved = x.transpose(dim, 2).contiguous();
  const auto all = values(moved);
  const auto line = static_cast<std::size_t>(x.size(dim));
  std::vector<double> lines(all.size() / line, start);
  for (std::size_t i = 0; i < all.size(); ++i) lines[i / line] = fold(lines[i / line], all[i]);
  Dims sizes = moved.sizes();
  sizes[2] = 1;
  return values(tensor<double>(std::span<const double>(lines), sizes).transpose(dim, 2));
}

TEST_P(Reductions, FoldOneDimensionOfEveryTypeAndLayout) {
  const auto plus = [](double a, double b) { return a + b; };
  const auto larger = [](double a, double b) { return a > b ? a : b; };
  for (const Dtype dtype : kAllTypes) {
    const Tensor base = sample({5, 300, 7}, dtype, 1);
    const Tensor layouts[] = {base, base.transpose(0, 2), base.slice(1, 0, 300, 3), base.narrow(2, 2, 1)};
    for (const Tensor& x : layouts) {
      for (int dim = 0; dim < 3; ++dim) {
        const std::string what = std::string(name_of(dtype)) + x.sizes().str() + " over " + std::to_string(dim);
        const Tensor total = sum(x, dim, true);
        EXPECT_EQ(values(total), rounded(folded(x, dim, 0, plus), total.dtype())) << what;
        EXPECT_EQ(values(max(x, dim, true)), folded(x, dim, -1e300, larger)) << what;
        if (!is_floating_point(dtype)) continue;
        auto expected = folded(x, dim, 0, plus);
        for (double& value : expected) value /= static_cast<double>(x.size(dim));
        const auto actual = values(mean(x, dim, true));
        const double tolerance = dtype == kF16 ? 1e-3 : dtype == kBF16 ? 1e-2 : 1e-6;
        for (std::size_t i = 0; i < expected.size(); ++i) ASSERT_NEAR(actual[i], expected[i], tolerance) << what;
      }
    }
  }
}

TEST_P(Reductions, FoldEverything) {
  const Tensor x = put({1, 2, 3, 4, 5, 6}, {2, 3});
  EXPECT_EQ(sum(x).item(), 21);
  EXPECT_EQ(mean(x).item(), 3.5);
  EXPECT_EQ(max(x).item(), 6);
  EXPECT_EQ(sum(x.t()).item(), 21);
  EXPECT_EQ(sum(x.narrow(1, 0, 2)).item(), 12);
  EXPECT_EQ(sum(full({}, 3, device)).item(), 3);
  EXPECT_EQ(values(sum(x, 0)), (std::vector<double>{5, 7, 9}));
  EXPECT_EQ(sum(put({1, 1, 0}, {3}, kBool)).item(), 2);
}

TEST_P(Reductions, DoNotOverflowTheirOwnSixteenBits) {
  EXPECT_EQ(mean(full({1000}, 40000, {kF16, device})).item(), 40000);
  EXPECT_EQ(sum(ones({4000}, {kF16, device})).item(), 4000);
}

TEST_P(Reductions, OfNothingAreZeroOrNaN) {
  EXPECT_EQ(values(sum(zeros({2, 0}, device), 1)), (std::vector<double>{0, 0}));
  EXPECT_TRUE(std::isnan(mean(zeros({0}, device)).item()));
}

TEST_P(Reductions, LetANaNDecideAMaximum) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  EXPECT_TRUE(std::isnan(max(put({1, nan, 3}, {3})).item()));
  EXPECT_EQ(max(put({-5, -INFINITY}, {2})).item(), -5);
  EXPECT_EQ(max(put({-INFINITY, -INFINITY}, {2})).item(), -INFINITY);
}

TEST_P(Products, KeepTheirDigitsOverALongSum) {
  const Tensor tenths = full({1, 1'000'000}, 0.1, device);
  const double sum = matmul(tenths, ones({1'000'000, 1}, device)).item();
  EXPECT_NEAR(sum, 1e6 * static_cast<double>(0.1F), 100);  // a plain sum in f32 is off by 958
}

const auto kDevices = testing::Values("cpu", "sim:0", "cuda:0");
const auto kNames = [](const auto& parameter) { return std::string(name_of(Device(parameter.param).type())); };
INSTANTIATE_TEST_SUITE_P(Every, Products, kDevices, kNames);
INSTANTIATE_TEST_SUITE_P(Every, Reductions, kDevices, kNames);

}  // namespace
}  // namespace labrig::contract
