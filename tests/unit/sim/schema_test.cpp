// The schema of the kernels: what is let through, what is not, and what it costs.
#include <gtest/gtest.h>

#include "schema_calls.hpp"

namespace labrig::sim {
namespace {

TEST(Schema, EveryKernelHasANameAndAnIndex) {
  for (std::uint16_t i = 0; i < kKernelCount; ++i) EXPECT_FALSE(name_of(*kernel_from_index(i)).empty());
  EXPECT_EQ(kernel_from_index(kKernelCount), std::nullopt);
  EXPECT_EQ(name_of(Kernel::arange), "arange");
}

TEST(Schema, ElementwiseInputsBroadcastToTheOutput) {
  EXPECT_TRUE(fits(Kernel::add, {out({2, 3}), in({3}), in({2, 1})}));
  EXPECT_TRUE(fits(Kernel::add, {out({2, 3}), in({}), in({2, 3})}));
  EXPECT_FALSE(fits(Kernel::add, {out({2, 3}), in({2}), in({2, 3})}));
  EXPECT_FALSE(fits(Kernel::add, {out({3}), in({2, 3}), in({3})}));
  EXPECT_FALSE(fits(Kernel::add, {out({3}), in({3})}));
}

TEST(Schema, TypesMayRiseButNotFall) {
  EXPECT_TRUE(fits(Kernel::mul, {out({2}, kF16), in({2}, kI64), in({2}, kBool)}));
  EXPECT_TRUE(fits(Kernel::add, {out({2}, kF32), in({2}, kF64), in({2})}));
  EXPECT_FALSE(fits(Kernel::add, {out({2}, kI64), in({2}, kF32), in({2}, kI64)}));
  EXPECT_FALSE(fits(Kernel::add, {out({2}, kBool), in({2}, kI64), in({2}, kBool)}));
  EXPECT_FALSE(fits(Kernel::div, {out({2}, kI64), in({2}, kI64), in({2}, kI64)}));
  EXPECT_FALSE(fits(Kernel::sub, {out({2}, kBool), in({2}, kBool), in({2}, kBool)}));
  EXPECT_TRUE(fits(Kernel::copy, {out({2}, kBool), in({2}, kF64)}));
  EXPECT_TRUE(fits(Kernel::masked_fill, {out({2, 2}), in({2, 2}), in({2}, kBool)}));
  EXPECT_FALSE(fits(Kernel::masked_fill, {out({2, 2}), in({2, 2}), in({2}, kU8)}));
}

TEST(Schema, MatmulNeedsFittingMatricesOfOneFloatType) {
  EXPECT_TRUE(fits(Kernel::matmul, {out({2, 4}), in({2, 3}), in({3, 4})}));
  EXPECT_FALSE(fits(Kernel::matmul, {out({2, 4}), in({2, 3}), in({4, 4})}));
  EXPECT_FALSE(fits(Kernel::matmul, {out({2}), in({2, 3}), in({3})}));
  EXPECT_FALSE(fits(Kernel::matmul, {out({2, 4}, kI64), in({2, 3}, kI64), in({3, 4}, kI64)}));
  EXPECT_FALSE(fits(Kernel::matmul, {out({2, 4}, kF32), in({2, 3}, kF16), in({3, 4}, kF16)}));
}

TEST(Schema, AnOutputWhoseElementsShareMemoryIsRefused) {
  Operand expanded = out({4, 4});
  expanded.strides = Dims{0, 1};
  EXPECT_FALSE(fits(Kernel::fill, {expanded}));
  expanded.strides = Dims{1, 4};
  EXPECT_TRUE(fits(Kernel::fill, {expanded}));
  expanded.strides = Dims{2, 1};
  EXPECT_FALSE(fits(Kernel::fill, {expanded}));
  Operand input = in({4, 4});
  input.strides = Dims{0, 1};
  EXPECT_TRUE(fits(Kernel::relu, {out({4, 4}), input}));
}

TEST(Cost, CountsFlopsAndDistinctBytes) {
  Operand row = in({64, 32});
  row.strides = Dims{0, 1};
  const KernelCost add = cost_of(call_of(Kernel::add, {out({64, 32}), in({64, 32}), row}));
  EXPECT_EQ(add.flops, 64u * 32);
  EXPECT_EQ(add.bytes, (2u * 64 * 32 + 32) * 4);
  EXPECT_EQ(add.steps, 64u * 32);
  const KernelCost product = cost_of(call_of(Kernel::matmul, {out({2, 4}), in({2, 3}), in({3, 4})}));
  EXPECT_EQ(product.flops, 2u * 2 * 3 * 4);
  EXPECT_TRUE(product.matrix);
  const KernelCost sum = cost_of(call_of(Kernel::sum, {out({1}, kI64), in({100}, kU8)}));
  EXPECT_EQ(sum.flops, 100u);
  EXPECT_EQ(sum.bytes, 108u);
  EXPECT_EQ(sum.rate, kU8);
  EXPECT_EQ(cost_of(call_of(Kernel::copy, {out({10}), in({10})})).flops, 0u);
}

TEST(Cost, TheLargestProductThatTheSchemaLetsThroughStillCounts) {
  constexpr std::int64_t kLarge = std::int64_t{1} << 17;
  const KernelCall call = call_of(Kernel::matmul, {out({kLarge, kLarge}), in({kLarge, kLarge}), in({kLarge, kLarge})});
  EXPECT_EQ(schema_violation(call), std::nullopt);
  EXPECT_EQ(cost_of(call).flops, std::uint64_t{1} << 52);
  EXPECT_FALSE(fits(Kernel::matmul, {out({2 * kLarge, kLarge}), in({2 * kLarge, 1}), in({1, kLarge})}));
}

}  // namespace
}  // namespace labrig::sim
