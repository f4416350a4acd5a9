// The schema of the kernels: what is let through, what is not, and what it costs.
#include <gtest/gtest.h>

#include <cmath>

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

TEST(Schema, AComparisonGivesBoolOfAnything) {
  EXPECT_TRUE(fits(Kernel::lt, {out({2}, kBool), in({2}, kF64), in({1}, kI32)}));
  EXPECT_FALSE(fits(Kernel::lt, {out({2}, kU8), in({2}), in({2})}));
  EXPECT_FALSE(fits(Kernel::eq, {out({2}, kBool), in({3}), in({2})}));
}

TEST(Schema, FunctionsAndLossesNeedAFloatType) {
  for (const Kernel kernel : {Kernel::exp, Kernel::log, Kernel::sqrt, Kernel::tanh, Kernel::sigmoid, Kernel::gelu}) {
    EXPECT_TRUE(fits(kernel, {out({2}, kF16), in({2}, kI64)}));
    EXPECT_FALSE(fits(kernel, {out({2}, kI64), in({2}, kI64)}));
  }
  EXPECT_TRUE(fits(Kernel::relu, {out({2}, kI64), in({2}, kI64)}));
  EXPECT_FALSE(fits(Kernel::clamp, {out({2}, kBool), in({2}, kBool)}));
  for (const Kernel kernel : {Kernel::relu_backward, Kernel::gelu_backward, Kernel::clamp_backward, Kernel::mse_loss}) {
    EXPECT_TRUE(fits(kernel, {out({2}), in({2}), in({})}));
    EXPECT_FALSE(fits(kernel, {out({2}, kI32), in({2}, kI32), in({2}, kI32)}));
    EXPECT_FALSE(fits(kernel, {out({2}), in({2})}));
  }
  EXPECT_TRUE(fits(Kernel::mse_loss_backward, {out({2}), in({}), in({2}), in({2})}));
  EXPECT_FALSE(fits(Kernel::bce_with_logits_backward, {out({2}), in({}), in({2}), in({3})}));
}

TEST(Schema, WhereTakesABoolFirst) {
  EXPECT_TRUE(fits(Kernel::where, {out({2, 2}), in({2}, kBool), in({2, 2}), in({}, kI64)}));
  EXPECT_FALSE(fits(Kernel::where, {out({2}), in({2}, kU8), in({2}), in({2})}));
  EXPECT_FALSE(fits(Kernel::where, {out({2}, kI64), in({2}, kBool), in({2}), in({2}, kI64)}));
}

TEST(Schema, RandomNumbersNeedARangeAndAType) {
  const auto draws = [](Kernel kernel, Dtype dtype, std::uint64_t first, std::uint64_t second) {
    KernelCall call = call_of(kernel, {out({4}, dtype)});
    call.scalars = {first, second, 1, 2};
    return !schema_violation(call);
  };
  const std::uint64_t zero = scalar_bits(0), one = scalar_bits(1), nan = scalar_bits(NAN);
  EXPECT_TRUE(draws(Kernel::uniform, kBF16, zero, one));
  EXPECT_FALSE(draws(Kernel::uniform, kBF16, one, zero));
  EXPECT_FALSE(draws(Kernel::uniform, kF32, zero, nan));
  EXPECT_FALSE(draws(Kernel::uniform, kI64, zero, one));
  EXPECT_FALSE(draws(Kernel::normal, kF32, zero, scalar_bits(-1)));
  EXPECT_TRUE(draws(Kernel::random_integers, kU8, ~std::uint64_t{0}, 1));
  EXPECT_FALSE(draws(Kernel::random_integers, kI64, 1, 1));
  EXPECT_FALSE(draws(Kernel::random_integers, kBool, 0, 1));
  EXPECT_TRUE(fits(Kernel::dropout, {out({2}), in({2})}, scalar_bits(0.5)));
  for (const double p : {-0.1, 1.5, static_cast<double>(NAN)}) {
    EXPECT_FALSE(fits(Kernel::dropout, {out({2}), in({2})}, scalar_bits(p)));
  }
}

TEST(Schema, AStepChangesTensorsOfOneShapeAndType) {
  const auto changed = [](const Dims& sizes, Dtype dtype = kF32) {
    return operand_at(0, dtype, sizes, Access::read_write);
  };
  const Operand none = absent_operand(Access::read_write);
  EXPECT_TRUE(fits(Kernel::sgd_step, {changed({2}), changed({2}), in({2})}));
  EXPECT_TRUE(fits(Kernel::sgd_step, {changed({2}), none, in({2})}));
  EXPECT_FALSE(fits(Kernel::sgd_step, {changed({2}), changed({1}), in({2})}));
  EXPECT_FALSE(fits(Kernel::sgd_step, {changed({2}), none, in({1})}));
  EXPECT_FALSE(fits(Kernel::sgd_step, {changed({2}), none, in({2}, kF16)}));
  EXPECT_FALSE(fits(Kernel::sgd_step, {changed({2}, kI64), none, in({2}, kI64)}));
  EXPECT_FALSE(fits(Kernel::sgd_step, {out({2}), none, in({2})}));
  KernelCall adam = call_of(Kernel::adam_step, {changed({2}), changed({2}), changed({2}), in({2})});
  EXPECT_NE(schema_violation(adam), std::nullopt) << "step 0";
  adam.scalars[6] = 1;
  EXPECT_EQ(schema_violation(adam), std::nullopt);
  EXPECT_FALSE(fits(Kernel::adam_step, {changed({2}), none, changed({2}), in({2})}));
  EXPECT_TRUE(fits(Kernel::amp_unscale, {changed({2, 3}, kF16), changed({}), in({})}));
  EXPECT_FALSE(fits(Kernel::amp_unscale, {changed({2}), changed({1}), in({})}));
  EXPECT_FALSE(fits(Kernel::amp_unscale, {changed({2}), changed({}), in({}, kF64)}));
  EXPECT_FALSE(fits(Kernel::amp_unscale, {changed({2}), changed({}), absent_operand()}));
  EXPECT_TRUE(fits(Kernel::amp_update_scale, {changed({}), changed({}, kI32), in({})}));
  EXPECT_FALSE(fits(Kernel::amp_update_scale, {changed({}), changed({}, kI64), in({})}));
  EXPECT_FALSE(fits(Kernel::amp_update_scale, {changed({0}), changed({}, kI32), in({})}));
}

TEST(Schema, HostileSizesAndStridesOfANewKernelAreRefused) {
  constexpr std::int64_t kHuge = std::int64_t{1} << 40;
  EXPECT_FALSE(fits(Kernel::where, {out({kHuge}), in({1}, kBool), in({1}), in({1})}));
  EXPECT_FALSE(fits(Kernel::exp, {out({kHuge, kHuge, kHuge}), in({1})}));
  EXPECT_FALSE(fits(Kernel::dropout, {out({-1}), in({-1})}));
  Operand backwards = in({4});
  backwards.strides = Dims{-1};
  EXPECT_FALSE(fits(Kernel::gelu, {out({4}), backwards}));
  Operand expanded = operand_at(0, kF32, {4}, Access::read_write);
  expanded.strides = Dims{0};
  EXPECT_FALSE(fits(Kernel::sgd_step, {expanded, absent_operand(Access::read_write), in({4})}));
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
