// The schema of reductions, of kernels along rows, of normalisation and of the losses over classes.
#include <gtest/gtest.h>

#include "schema_calls.hpp"

namespace labrig::sim {
namespace {

TEST(Schema, AReductionLeavesItsDimensionsWithSizeOne) {
  EXPECT_TRUE(fits(Kernel::sum, {out({1, 3}), in({2, 3})}));
  EXPECT_TRUE(fits(Kernel::sum, {out({1, 1}), in({2, 3})}));
  EXPECT_TRUE(fits(Kernel::sum, {out({}), in({})}));
  EXPECT_TRUE(fits(Kernel::norm, {out({1, 3, 1}), in({2, 3, 4})}));
  EXPECT_FALSE(fits(Kernel::sum, {out({3}), in({2, 3})}));
  EXPECT_FALSE(fits(Kernel::sum, {out({2, 2}), in({2, 3})}));
  EXPECT_FALSE(fits(Kernel::sum, {out({2, 3}), in({1, 3})}));
}

TEST(Schema, AReductionKeepsItsKind) {
  EXPECT_TRUE(fits(Kernel::sum, {out({1}, kI64), in({2}, kBool)}));
  EXPECT_FALSE(fits(Kernel::sum, {out({1}, kI64), in({2}, kF32)}));
  EXPECT_FALSE(fits(Kernel::mean, {out({1}, kI64), in({2}, kI64)}));
  EXPECT_FALSE(fits(Kernel::norm, {out({1}, kI64), in({2}, kI64)}));
  EXPECT_FALSE(fits(Kernel::max, {out({1}, kF64), in({2}, kF32)}));
}

TEST(Schema, AMaximumNeedsAnElement) {
  EXPECT_FALSE(fits(Kernel::max, {out({1}), in({0})}));
  EXPECT_FALSE(fits(Kernel::argmax, {out({1}, kI64), in({0})}));
  EXPECT_TRUE(fits(Kernel::max, {out({0, 1}), in({0, 3})}));
  EXPECT_TRUE(fits(Kernel::sum, {out({1}), in({0})}));
}

TEST(Schema, AnIndexCountsAlongOneDimension) {
  EXPECT_TRUE(fits(Kernel::argmax, {out({2, 1}, kI64), in({2, 3})}, 1));
  EXPECT_FALSE(fits(Kernel::argmax, {out({2, 1}), in({2, 3})}, 1));
  EXPECT_FALSE(fits(Kernel::argmax, {out({2, 1}, kI64), in({2, 3})}, 0));
  EXPECT_FALSE(fits(Kernel::argmax, {out({1, 1}, kI64), in({2, 3})}, 1));
  EXPECT_FALSE(fits(Kernel::argmax, {out({2, 1}, kI64), in({2, 3})}, 2));
  EXPECT_FALSE(fits(Kernel::argmax, {out({2, 1}, kI64), in({2, 3})}, ~std::uint64_t{0}));
}

TEST(Cost, OfAReductionVisitsItsOutputsAlsoWhenThereIsNothingToReduce) {
  EXPECT_EQ(cost_of(call_of(Kernel::sum, {out({1, 1}), in({5, 6})})).steps, 30u);
  EXPECT_EQ(cost_of(call_of(Kernel::sum, {out({500, 1}), in({500, 0})})).steps, 500u);
  EXPECT_EQ(cost_of(call_of(Kernel::norm, {out({1}), in({5})})).flops, 10u);
}

}  // namespace
}  // namespace labrig::sim
