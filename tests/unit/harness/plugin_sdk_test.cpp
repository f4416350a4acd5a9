// What lab authors build on: random numbers that are the same everywhere, named values, comparisons.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "labrig/cost_card.hpp"
#include "labrig/error.hpp"
#include "labrig/lab.hpp"
#include "labrig/memory.hpp"
#include "labrig/ops.hpp"

namespace labrig::lab {
namespace {

template <class Function>
std::string code_of(Function&& function) {
  try {
    function();
  } catch (const Error& error) {
    return error.code();
  }
  return "nothing thrown";
}

// From the known-answer file of Random123: philox4x32 with 10 rounds, counter and key all zero.
TEST(Random, GivesThePublishedNumbersOfPhilox) {
  Random random(0, 0);
  EXPECT_EQ(random.bits(), 0xe169c58d6627e8d5u);
  EXPECT_EQ(random.bits(), 0x9b00dbd8bc57ac4cu);
}

TEST(Random, DependsOnSeedAndStream) {
  EXPECT_EQ(Random(1, 2).bits(), Random(1, 2).bits());
  EXPECT_NE(Random(1, 2).bits(), Random(2, 2).bits());
  EXPECT_NE(Random(1, 2).bits(), Random(1, 3).bits());
}

TEST(Random, KeepsWithinItsBounds) {
  Random random(7);
  bool low = false, high = false;
  for (int i = 0; i < 1000; ++i) {
    const double u = random.uniform();
    EXPECT_TRUE(u >= 0 && u < 1);
    const std::int64_t n = random.integer(-1, 2);
    EXPECT_TRUE(n >= -1 && n <= 2);
    low = low || n == -1;
    high = high || n == 2;
  }
  EXPECT_TRUE(low && high);
  EXPECT_EQ(random.integer(5, 5), 5);
}

TEST(Random, FillsTensors) {
  Random random(3);
  const Tensor x = random.uniform_tensor({8, 16}, -2, 2);
  EXPECT_EQ(x.dtype(), kF32);
  EXPECT_EQ(x.sizes(), (Dims{8, 16}));
  const Tensor ones_and_zeros = random.bernoulli_tensor({1000}, 0.25);
  EXPECT_EQ(ones_and_zeros.dtype(), kBool);
  EXPECT_NEAR(sum(ones_and_zeros).item(), 250, 60);
}

TEST(Values, GiveBackWhatWasSetInOrder) {
  Values values;
  values.set("n", 3);
  values.set("x", 0.5);
  values.set("t", ones({2}));
  values.set("word", std::string("yes"));
  EXPECT_EQ(values.integer("n"), 3);
  EXPECT_EQ(values.real("x"), 0.5);
  EXPECT_EQ(values.tensor("t").numel(), 2);
  EXPECT_EQ(values.text("word"), "yes");
  ASSERT_EQ(values.all().size(), 4u);
  EXPECT_EQ(values.all()[2].first, "t");
  values.set("n", 4);
  EXPECT_EQ(values.integer("n"), 4);
  EXPECT_EQ(values.all().size(), 4u);
}

TEST(Values, SayWhatIsThereWhenANameIsMissing) {
  Values values;
  values.set("present", 1);
  EXPECT_EQ(code_of([&] { values.tensor("absent"); }), "no-such-value");
  EXPECT_EQ(code_of([&] { values.real("present"); }), "no-such-value");
}

TEST(Values, NameTheirTensorsWithoutRenamingTheCallers) {
  Tensor mine = ones({2});
  mine.set_name("mine");
  Values values;
  values.set("theirs", mine);
  EXPECT_EQ(values.tensor("theirs").name(), "theirs");
  EXPECT_EQ(mine.name(), "mine");
}

TEST(Scenario, NamesTheParameterThatIsMissing) {
  Scenario scenario;
  scenario.id = "small";
  scenario.parameters["rows"] = 8;
  EXPECT_EQ(scenario.integer("rows"), 8);
  EXPECT_EQ(code_of([&] { scenario.integer("columns"); }), "no-such-parameter");
}

TEST(Compare, AcceptsWhatIsNearEnough) {
  EXPECT_TRUE(compare(full({2, 2}, 1.001), full({2, 2}, 1, kF64), 0.01, 0).equal);
  EXPECT_FALSE(compare(full({2, 2}, 1.1), full({2, 2}, 1, kF64), 0.01, 0).equal);
}

TEST(Compare, CountsAndLocatesTheDifferences) {
  const Tensor expected = zeros({2, 3}, kF64), actual = zeros({2, 3});
  actual.data<float>()[4] = 2;
  const Comparison found = compare(actual, expected, 0, 0);
  EXPECT_EQ(found.code, "wrong-values");
  EXPECT_EQ(found.text, "1 of 6 values is wrong; first at [1, 1]: 2, expected 0");
}

TEST(Compare, LetsNanMatchNothing) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(compare(full({1}, nan, kF64), full({1}, nan, kF64), 1, 1).code, "not-finite");
  EXPECT_FALSE(compare(full({1}, 1, kF64), full({1}, nan, kF64), 1, 1).equal);
}

TEST(Compare, TellsInfinityFromALargeTolerance) {
  const double infinity = std::numeric_limits<double>::infinity();
  EXPECT_TRUE(compare(full({1}, infinity, kF64), full({1}, infinity, kF64), 1, 1).equal);
  EXPECT_FALSE(compare(full({1}, 5, kF64), full({1}, infinity, kF64), 1, 1).equal);
  EXPECT_FALSE(compare(full({1}, -infinity, kF64), full({1}, infinity, kF64), 1, 1).equal);
}

TEST(Compare, LooksAtShapeAndType) {
  EXPECT_EQ(compare(ones({2, 3}), ones({3, 2}, kF64), 0, 0).code, "wrong-shape");
  EXPECT_EQ(compare(ones({2}, kF64), ones({2}, kF64), 0, 0, kF32).code, "wrong-dtype");
  EXPECT_EQ(compare(Tensor(), ones({2}, kF64), 0, 0).code, "wrong-shape");
}

TEST(CostCard, HasTheMemoryAndTheNeighboursThatItIsGiven) {
  constexpr std::size_t kMiB = 1 << 20;
  const CostCard card("tiny-256mib", {.capacity_bytes = 64 * kMiB, .other_processes_bytes = 24 * kMiB});
  EXPECT_EQ(mem_get_info(card.device()).total_bytes, 64 * kMiB);
  EXPECT_EQ(mem_get_info(card.device()).free_bytes, 40 * kMiB);
  const Tensor eight = empty({8 << 20}, {kU8, card.device()});
  EXPECT_EQ(largest_free_block(card.device()), 12 * kMiB) << "of a segment of 20 MiB";
  try {
    Tensor x = empty({7 << 20, 1}, {kF16, card.device()});
    x = cat({x, x});
    ADD_FAILURE() << "there was memory";
  } catch (const OutOfMemoryError& error) {
    EXPECT_EQ(error.facts().asked_by, "cat");
    EXPECT_EQ(error.verdict(), OutOfMemoryVerdict::capacity) << error.why();
  }
  EXPECT_EQ(max(full({3}, 7, card.device()).cpu()).item(), 0) << "nothing is computed";
}

TEST(Verdict, KeepsTheFirstReason) {
  Verdict verdict;
  verdict.require(compare(ones({1}), ones({1}, kF64), 0, 0), "the sum");
  EXPECT_TRUE(verdict.values_right);
  verdict.require(compare(zeros({1}), ones({1}, kF64), 0, 0), "the product");
  verdict.wrong("later", "later");
  EXPECT_FALSE(verdict.values_right);
  EXPECT_EQ(verdict.code, "wrong-values");
  EXPECT_EQ(verdict.text, "the product: 1 of 1 values is wrong; first at [0]: 0, expected 1");
}

}  // namespace
}  // namespace labrig::lab
