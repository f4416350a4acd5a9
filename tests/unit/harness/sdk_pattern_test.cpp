// What wrong values have in common: each pattern with its count, and nothing where nothing is clear.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "labrig/lab.hpp"
#include "labrig/ops.hpp"

namespace labrig::lab {
namespace {

// No two values are near each other, and none is a multiple of another by a common factor.
Tensor expected(const Dims& sizes) {
  Random random(3);
  return random.uniform_tensor(sizes, 1, 100, kF64);
}

Comparison compared(const Tensor& actual, const Tensor& right, const Tensor& before = Tensor()) {
  return compare(actual, right, 1e-5, 1e-6, std::nullopt, before);
}

void set(const Tensor& tensor, std::int64_t at, double value) {
  tensor.data<float>()[static_cast<std::size_t>(at)] = static_cast<float>(value);
}

TEST(Pattern, UnwrittenIsWhereEveryBitIsOne) {
  const Tensor right = expected({4, 8}), actual = right.to(kF32);
  std::memset(actual.data<float>().data() + 3, 0xFF, 4 * 5);
  const Comparison found = compared(actual, right);
  EXPECT_EQ(found.pattern, "unwritten");
  EXPECT_EQ(found.pattern_count, 5);
  EXPECT_EQ(found.pattern_text.rfind("All 5 wrong values read as memory that nothing has written", 0), 0u)
      << found.pattern_text;
}

TEST(Pattern, UnwrittenIsFoundInTypesOf16BitsAndInWholeNumbersThatNeverAreMinusOne) {
  const Tensor right = full({6}, 2, kF64), half = right.to(kF16), whole = right.to(kI64);
  std::memset(half.data_ptr(), 0xFF, 2 * 2);
  std::memset(whole.data_ptr(), 0xFF, 2 * 8);
  EXPECT_EQ(compared(half, right).pattern, "unwritten");
  EXPECT_EQ(compared(whole, right).pattern, "unwritten");
  const Tensor negative = full({6}, -1, kF64);
  negative.data<double>()[0] = 5;
  EXPECT_EQ(compared(full({6}, -1, kI64), negative).pattern, "") << "-1 is an answer here";
}

TEST(Pattern, UnwrittenSaysWhereWhenThatIsTheEnd) {
  const Tensor right = expected({8, 4}), actual = right.to(kF32);
  std::memset(actual.data<float>().data() + 5 * 4, 0xFF, 4 * 12);
  const Comparison found = compared(actual, right);
  EXPECT_EQ(found.pattern, "unwritten");
  EXPECT_NE(found.pattern_text.find("in the last 3 of 8 rows"), std::string::npos) << found.pattern_text;
}

TEST(Pattern, NotANumberCountsNanAndInfinity) {
  const Tensor right = expected({10}), actual = right.to(kF32);
  set(actual, 1, NAN);
  set(actual, 4, INFINITY);
  const Comparison found = compared(actual, right);
  EXPECT_EQ(found.pattern, "not-a-number");
  EXPECT_EQ(found.pattern_count, 2);
  EXPECT_NE(found.pattern_text.find("NaN or infinite"), std::string::npos);
}

TEST(Pattern, TailIsTheLastRowsColumnsOrValues) {
  const Tensor right = expected({8, 6});
  const auto zeroed = [&](auto in_tail) {
    const Tensor actual = right.to(kF32);
    for (std::int64_t i = 0; i < 48; ++i)
      if (in_tail(i)) set(actual, i, 0);
    return compared(actual, right);
  };
  const Comparison rows = zeroed([](std::int64_t i) { return i / 6 >= 6; });
  EXPECT_EQ(rows.pattern, "tail");
  EXPECT_EQ(rows.pattern_count, 12);
  EXPECT_NE(rows.pattern_text.find("All 12 wrong values are in the last 2 of 8 rows"), std::string::npos)
      << rows.pattern_text;
  const Comparison columns = zeroed([](std::int64_t i) { return i % 6 == 5; });
  EXPECT_EQ(columns.pattern, "tail");
  EXPECT_NE(columns.pattern_text.find("in the last of 6 columns"), std::string::npos) << columns.pattern_text;
  const Comparison values = zeroed([](std::int64_t i) { return i >= 48 - 5; });
  EXPECT_EQ(values.pattern, "tail");
  EXPECT_NE(values.pattern_text.find("among the last 5 of 48 values"), std::string::npos) << values.pattern_text;
  EXPECT_EQ(zeroed([](std::int64_t i) { return i / 6 == 3; }).pattern, "") << "a row in the middle";
  EXPECT_EQ(zeroed([](std::int64_t i) { return i / 6 >= 1; }).pattern, "") << "nearly everything";
}

TEST(Pattern, StaleIsWhatWasRightBefore) {
  const Tensor right = expected({4, 8}), before = add(expected({4, 8}), 7);
  const Tensor actual = right.to(kF32);
  for (std::int64_t i = 8; i < 16; ++i) set(actual, i, before.data<double>()[static_cast<std::size_t>(i)]);
  const Comparison found = compared(actual, right, before);
  EXPECT_EQ(found.pattern, "stale");
  EXPECT_EQ(found.pattern_count, 8);
  EXPECT_EQ(compared(actual, right).pattern, "") << "without what was there before nothing is clear";
  EXPECT_EQ(compared(actual, right, expected({3, 8})).pattern, "") << "of another shape";
}

TEST(Pattern, StaleIsTheNeighbourAlongTheFirstDimension) {
  const Tensor right = expected({6, 8});
  const Tensor from_above = right.to(kF32);
  for (std::int64_t i = 16; i < 24; ++i) set(from_above, i, right.data<double>()[static_cast<std::size_t>(i - 8)]);
  EXPECT_EQ(compared(from_above, right).pattern, "stale");
  EXPECT_NE(compared(from_above, right).pattern_text.find("one place earlier"), std::string::npos);
  const Tensor from_below = right.to(kF32);
  for (std::int64_t i = 0; i < 40; ++i) set(from_below, i, right.data<double>()[static_cast<std::size_t>(i + 8)]);
  EXPECT_EQ(compared(from_below, right).pattern, "stale");
  EXPECT_EQ(compared(from_below, right).pattern_count, 40);
  EXPECT_NE(compared(from_below, right).pattern_text.find("one place later"), std::string::npos);
}

TEST(Pattern, StaleIsAlsoAnyOtherRow) {
  const Tensor right = expected({6, 8}), actual = right.to(kF32);
  for (const std::int64_t row : {0, 1, 3})  // all hold what belongs into the last
    for (std::int64_t j = 0; j < 8; ++j)
      set(actual, 8 * row + j, right.data<double>()[static_cast<std::size_t>(40 + j)]);
  const Comparison found = compared(actual, right);
  EXPECT_EQ(found.pattern, "stale");
  EXPECT_EQ(found.pattern_count, 24);
  EXPECT_NE(found.pattern_text.find("in another place"), std::string::npos) << found.pattern_text;
}

TEST(Pattern, TransposedIsToldOfSquareMatricesAndOfTheOrderInMemory) {
  const Tensor square = expected({5, 5});
  const Comparison found = compared(square.t().contiguous().to(kF32), square);
  EXPECT_EQ(found.pattern, "transposed");
  EXPECT_EQ(found.pattern_count, 20) << "the diagonal is right";
  const Tensor wide = expected({3, 7});
  EXPECT_EQ(compared(wide.t().contiguous().reshape({3, 7}).to(kF32), wide).pattern, "transposed");
  const Tensor batch = expected({2, 4, 4});
  EXPECT_EQ(compared(batch.transpose(1, 2).contiguous().to(kF32), batch).pattern, "transposed");
}

TEST(Pattern, ConstantFactorNamesTheFactor) {
  const Tensor right = expected({40});
  const Comparison quarter = compared(mul(right, 0.25).to(kF32), right);
  EXPECT_EQ(quarter.pattern, "constant-factor");
  EXPECT_EQ(quarter.pattern_count, 40);
  EXPECT_NE(quarter.pattern_text.find("0.25 (1/4) times"), std::string::npos) << quarter.pattern_text;
  EXPECT_EQ(compared(mul(right, -1.0).to(kF32), right).pattern, "constant-factor");
  EXPECT_EQ(compared(full({40}, 3), full({40}, 2, kF64)).pattern, "") << "of values that are alike, anything is";
  EXPECT_EQ(compared(zeros({40}), right).pattern, "") << "nothing is no factor";
}

TEST(Pattern, SlightlyOffIsNearlyEverywhereAndSmall) {
  const Tensor right = expected({200});
  const Comparison found = compared(right.to(kBF16), right);
  EXPECT_EQ(found.pattern, "slightly-off");
  EXPECT_GE(found.pattern_count, 180);
  const Tensor some = right.to(kF32);
  for (std::int64_t i = 0; i < 200; i += 2)
    set(some, i, right.data<double>()[static_cast<std::size_t>(i)] * (1 + 1e-5 * static_cast<double>(i + 3)));
  EXPECT_EQ(compared(some, right).pattern, "") << "half of the values";
}

TEST(Pattern, IsEmptyWhereNothingIsClearAndWhereAllIsRight) {
  const Tensor right = expected({50}), noise = Random(9).uniform_tensor({50}, 1, 100);
  const Comparison found = compared(noise, right);
  EXPECT_EQ(found.pattern, "");
  EXPECT_EQ(found.pattern_text, "");
  EXPECT_EQ(found.pattern_count, 0);
  EXPECT_EQ(compared(right, right).pattern, "");
  EXPECT_EQ(compared(empty({0}), empty({0}, kF64)).pattern, "");
  EXPECT_EQ(compared(full({}, 2), full({}, 1, kF64)).pattern, "");
}

TEST(Pattern, OfOneWrongValueSpeaksInTheSingular) {
  const Tensor right = expected({10}), actual = right.to(kF32);
  set(actual, 9, NAN);
  EXPECT_NE(compared(actual, right).text.find("first at [9]: NaN, expected"), std::string::npos);
  EXPECT_EQ(compared(actual, right).pattern_text.rfind("The wrong value is NaN", 0), 0u)
      << compared(actual, right).pattern_text;
}

TEST(Verdict, KeepsTheComparisonsThatFailedUpToTwenty) {
  Verdict verdict;
  verdict.require(compare(ones({1}), ones({1}, kF64), 0, 0), "right");
  for (int i = 0; i < 25; ++i) verdict.require(compare(zeros({2}), ones({2}, kF64), 0, 0), std::to_string(i));
  ASSERT_EQ(verdict.mismatches.size(), 20u);
  EXPECT_EQ(verdict.mismatches[0].what, "0");
  EXPECT_EQ(verdict.mismatches[19].what, "19");
  EXPECT_EQ(verdict.mismatches[0].comparison.wrong, 2);
  EXPECT_EQ(verdict.text.rfind("0: ", 0), 0u) << "the first reason stands";
}

}  // namespace
}  // namespace labrig::lab
