// Random values: the generator against its authors' numbers, distributions by their moments, and that a value depends
// on seed, offset and its place alone.
#include "labrig/random.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "expect_error.hpp"
#include "labrig/ops.hpp"
#include "ops/philox.hpp"

namespace labrig {
namespace {

using test::error_of;
using test::expect_error;

std::vector<double> values_of(const Tensor& tensor) {
  const Tensor host = tensor.cpu().to(kF64).contiguous();
  const auto data = host.data<const double>();
  return {data.begin(), data.end()};
}

struct Moments {
  double mean, deviation, least, most;
};
Moments moments_of(const Tensor& tensor) {
  const std::vector<double> values = values_of(tensor);
  const double count = static_cast<double>(values.size());
  const double mean = std::accumulate(values.begin(), values.end(), 0.0) / count;
  double squares = 0;
  for (const double value : values) squares += (value - mean) * (value - mean);
  const auto [least, most] = std::minmax_element(values.begin(), values.end());
  return {mean, std::sqrt(squares / count), *least, *most};
}

// From the known answers that come with Random123.
TEST(Philox, GivesTheKnownAnswers) {
  const auto expect_words = [](const philox::Words& words, std::array<std::uint32_t, 4> expected) {
    for (std::size_t i = 0; i < 4; ++i) EXPECT_EQ(words.word[i], expected[i]) << i;
  };
  constexpr std::uint64_t kOnes = ~std::uint64_t{0};
  expect_words(philox::words(0, 0, 0), {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8});
  expect_words(philox::words(kOnes, kOnes, kOnes), {0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd});
  expect_words(philox::words(0x299f31d0a4093822, 0x85a308d3243f6a88, 0x0370734413198a2e),
               {0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1});
}

TEST(Philox, CountsValuesInFoursFromTheOffset) {
  EXPECT_EQ(philox::word_of(7, 10, 0), philox::words(7, 10, 0).word[0]);
  EXPECT_EQ(philox::word_of(7, 10, 6), philox::words(7, 11, 0).word[2]);
  Generator generator{7, 10};
  EXPECT_EQ(generator.take(5), 10u);
  EXPECT_EQ(generator.take(4), 12u);
  EXPECT_EQ(generator.take(0), 13u);
  EXPECT_EQ(generator.offset, 13u);
}

// p = Phi(x), which erfc has to about 1e-16.
TEST(NormalQuantile, InvertsTheDistribution) {
  for (const double x : {-8.0, -6.2, -5.1, -3.0, -1.5, -0.9, -0.5, -1e-3, 0.0, 0.25, 1.2, 2.5, 4.0}) {
    const double p = std::erfc(-x / std::sqrt(2.0)) / 2;
    EXPECT_NEAR(philox::normal_quantile(p), x, 1e-11 * std::max(1.0, std::exp(x))) << x;
  }
  for (const double p : {1e-300, 1e-9, 0.1, 0.499, 0.5, 0.71, 0.999}) {
    EXPECT_NEAR(philox::log_of(p), std::log(p), 4e-16 * std::fabs(std::log(p))) << p;
  }
}

TEST(Uniform, FillsItsRangeInEveryFloatType) {
  for (const Dtype dtype : {kF32, kF64, kF16, kBF16}) {
    Generator generator{1};
    const Moments moments = moments_of(uniform_(empty({100'000}, dtype), -1, 3, &generator));
    EXPECT_NEAR(moments.mean, 1, dtype == kBF16 ? 0.03 : 0.02) << name_of(dtype);
    EXPECT_NEAR(moments.deviation, 4 / std::sqrt(12.0), 0.01) << name_of(dtype);
    EXPECT_GE(moments.least, -1);
    EXPECT_LT(moments.most, 3);
  }
}

TEST(Uniform, NeverReachesTheUpperBoundByRounding) {
  Generator generator{3};
  for (const Dtype dtype : {kF16, kBF16}) {
    EXPECT_LT(moments_of(uniform_(empty({50'000}, dtype), 1, 1.0625, &generator)).most, 1.0625);
    EXPECT_LT(moments_of(rand({50'000}, dtype, &generator)).most, 1);
  }
}

TEST(Uniform, IsTheSameDrawInEveryPrecision) {
  Generator narrow{4}, wide{4};
  const std::vector<double> coarse = values_of(rand({1000}, kF32, &narrow)),
                            fine = values_of(rand({1000}, kF64, &wide));
  for (std::size_t i = 0; i < coarse.size(); ++i) EXPECT_NEAR(coarse[i], fine[i], 1.2e-7);
}

TEST(Normal, HasMeanAndDeviationInEveryFloatType) {
  for (const Dtype dtype : {kF32, kF64, kF16, kBF16}) {
    Generator generator{2};
    const Moments moments = moments_of(normal_(empty({100'000}, dtype), 3, 0.5, &generator));
    EXPECT_NEAR(moments.mean, 3, 0.01) << name_of(dtype);
    EXPECT_NEAR(moments.deviation, 0.5, 0.01) << name_of(dtype);
    EXPECT_LT(moments.most, 3 + 0.5 * 6.5);
  }
  Generator generator{2};
  const std::vector<double> values = values_of(randn({100'000}, {}, &generator));
  const auto beyond = std::count_if(values.begin(), values.end(), [](double x) { return std::fabs(x) > 1.959964; });
  EXPECT_NEAR(static_cast<double>(beyond), 5000, 300);
}

TEST(RandomIntegers, AreSpreadEvenlyOverAnyRange) {
  Generator generator{9};
  std::array<int, 7> counts{};
  for (const double value : values_of(randint(-3, 4, {70'000}, kI64, &generator))) {
    ++counts[static_cast<std::size_t>(value + 3)];
  }
  for (const int count : counts) EXPECT_NEAR(count, 10'000, 400);
  constexpr std::int64_t kLeast = std::numeric_limits<std::int64_t>::min();
  const Tensor whole = randint(kLeast, std::numeric_limits<std::int64_t>::max(), {1000}, kI64, &generator);
  EXPECT_GT(sum(gt(whole, 0)).item<int>(), 400);
  EXPECT_GT(sum(lt(whole, 0)).item<int>(), 400);
  EXPECT_EQ(moments_of(randint(255, 256, {10}, kU8, &generator)).least, 255);
  EXPECT_EQ(moments_of(random_(empty({5000}, kF32), 0, 3, &generator)).most, 2);
}

TEST(Randperm, IsAPermutation) {
  Generator generator{5};
  const Tensor order = randperm(1000, &generator), again = randperm(1000, &generator);
  std::vector<double> sorted = values_of(order);
  EXPECT_FALSE(std::is_sorted(sorted.begin(), sorted.end()));
  EXPECT_NE(sorted, values_of(again));
  std::sort(sorted.begin(), sorted.end());
  EXPECT_EQ(sorted, values_of(arange(1000)));
  EXPECT_EQ(randperm(0).numel(), 0);
}

TEST(Draw, DependsOnSeedAndOffsetAlone) {
  manual_seed(42);
  const std::vector<double> first = values_of(randn({33})), second = values_of(randn({33}));
  EXPECT_NE(first, second);
  manual_seed(42);
  EXPECT_EQ(values_of(randn({33})), first);
  EXPECT_EQ(values_of(randn({33})), second);
  Generator generator{42, 9};
  EXPECT_EQ(values_of(randn({33}, {}, &generator)), second);
  manual_seed(43);
  EXPECT_NE(values_of(randn({33})), first);
}

TEST(Draw, GoesByPlaceInTheTensorNotInMemory) {
  for (const Dtype dtype : {kF32, kF64, kF16}) {
    Generator plain{6}, strided{6};
    const Tensor gaps = zeros({5, 8}, dtype).t().slice(0, 0, 8, 2);  // [4, 5]
    const std::vector<double> expected = values_of(normal_(empty({4, 5}, dtype), 0, 1, &plain));
    EXPECT_EQ(values_of(normal_(gaps, 0, 1, &strided)), expected);
  }
}

TEST(Draw, IsTheSameOnTheSimulatedCard) {
  const Device card("sim:0");
  const auto everything = [](Device device) {
    manual_seed(11);
    std::vector<double> values;
    for (const Tensor& drawn :
         {rand({37}, device), rand({37}, {kF64, device}), randn({37}, device), randn({37}, {kBF16, device}),
          randint(-5, 1000, {37}, {kI32, device}), dropout(ones({37}, device), 0.3)}) {
      const std::vector<double> more = values_of(drawn);
      values.insert(values.end(), more.begin(), more.end());
    }
    return values;
  };
  EXPECT_EQ(everything(card), everything(Device{}));
}

TEST(Dropout, DropsItsShareAndKeepsTheMean) {
  manual_seed(1);
  const std::vector<double> values = values_of(dropout(ones({100'000}), 0.25));
  const auto dropped = std::count(values.begin(), values.end(), 0.0);
  EXPECT_NEAR(static_cast<double>(dropped), 25'000, 600);
  EXPECT_EQ(*std::max_element(values.begin(), values.end()), static_cast<double>(1 / 0.75F));
  EXPECT_EQ(moments_of(dropout(ones({100}), 1)).most, 0);
  const Tensor x = ones({3});
  EXPECT_TRUE(dropout(x, 0.5, false).is_same(x));
  EXPECT_TRUE(dropout(x, 0).is_same(x));
  expect_error("invalid-argument", "dropout probability has to be between 0 and 1, but got 1.5",
               [&] { dropout(x, 1.5); });
  expect_error("result-type", "result type Float can't be cast to the desired output type Long",
               [] { dropout(ones({3}, kI64)); });
}

TEST(Draw, RefusesWhatPyTorchRefuses) {
  expect_error("invalid-argument", "uniform_ expects to return a [from, to) range, but found from=2 > to=1",
               [] { uniform_(empty({2}), 2, 1); });
  expect_error("invalid-argument", "normal expects std >= 0.0, but found std -1", [] { normal_(empty({2}), 0, -1); });
  expect_error("invalid-argument", "random_ expects 'from' to be less than 'to', but got from=5 >= to=5",
               [] { random_(empty({2}, kI64), 5, 5); });
  expect_error("invalid-argument", "to - 1 is out of bounds for unsigned char", [] { randint(0, 257, {2}, kU8); });
  expect_error("invalid-argument", "from is out of bounds for unsigned char", [] { randint(-1, 2, {2}, kU8); });
  expect_error("dtype-mismatch", "\"check_uniform_bounds\" not implemented for 'Long'",
               [] { uniform_(empty({2}, kI64)); });
  expect_error("leaf-in-place", "a leaf Variable that requires grad is being used in an in-place operation.",
               [] { normal_(zeros({2}).requires_grad_()); });
}

}  // namespace
}  // namespace labrig
