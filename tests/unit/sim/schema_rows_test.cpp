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

// --- rows ----------------------------------------------------------------------------------------------------------

TEST(Schema, RowsHaveOneShapeAndOneFloatType) {
  EXPECT_TRUE(fits(Kernel::softmax, {out({2, 3}), in({2, 3})}, 1));
  EXPECT_TRUE(fits(Kernel::log_softmax_backward, {out({2, 3}, kF16), in({2, 3}, kF16), in({2, 3}, kF16)}, 0));
  EXPECT_FALSE(fits(Kernel::softmax, {out({2, 3}), in({2, 1})}, 1));
  EXPECT_FALSE(fits(Kernel::softmax, {out({2, 3}), in({2, 3}, kF16)}, 1));
  EXPECT_FALSE(fits(Kernel::softmax, {out({2, 3}, kI64), in({2, 3}, kI64)}, 1));
  EXPECT_FALSE(fits(Kernel::softmax_backward, {out({2, 3}), in({2, 3}), in({3, 2})}, 1));
  EXPECT_FALSE(fits(Kernel::softmax, {out({2, 3}), in({2, 3})}, 2));
  EXPECT_FALSE(fits(Kernel::softmax, {out({2, 3}), in({2, 3})}, ~std::uint64_t{0}));
  EXPECT_FALSE(fits(Kernel::softmax, {out({}), in({})}, 0));
}

// --- normalisation -------------------------------------------------------------------------------------------------

const Operand kAbsent = absent_operand(), kAbsentRunning = absent_operand(Access::read_write);

bool layer_norm_fits(const Operand& x, const Operand& rstd, const Operand& weight, const Operand& bias = kAbsent) {
  Operand y = x;
  y.access = Access::write;
  return fits(Kernel::layer_norm, {y, out({2}), rstd, x, weight, bias});
}

TEST(Schema, LayerNormKeepsStatisticsARowAndParametersAColumn) {
  EXPECT_TRUE(layer_norm_fits(in({2, 3}), out({2}), in({3}), in({3})));
  EXPECT_TRUE(layer_norm_fits(in({2, 3}), out({2}), kAbsent, in({3})));
  EXPECT_TRUE(layer_norm_fits(in({2, 3}, kF16), out({2}), in({3}, kF16), in({3})));
  EXPECT_FALSE(layer_norm_fits(in({2, 3}), out({3}), kAbsent));
  EXPECT_FALSE(layer_norm_fits(in({2, 3}), out({2}), in({2})));
  EXPECT_FALSE(layer_norm_fits(in({2, 3}), out({2}), in({3}, kF16)));
  EXPECT_FALSE(layer_norm_fits(in({2, 3}, kF16), out({2}, kF16), kAbsent));
  EXPECT_FALSE(layer_norm_fits(in({2, 3}, kI64), out({2}), kAbsent));
  EXPECT_FALSE(layer_norm_fits(in({2, 3, 4}), out({2}), kAbsent));
  EXPECT_FALSE(layer_norm_fits(in({}), out({2}), kAbsent));
}

TEST(Schema, TheGradientsOfLayerNormNeedItsStatistics) {
  const Operand x = in({2, 3}), rows = in({2});
  EXPECT_TRUE(fits(Kernel::layer_norm_backward, {out({2, 3}), x, x, in({3}), rows, rows}));
  EXPECT_TRUE(fits(Kernel::layer_norm_backward, {out({2, 3}), x, x, kAbsent, rows, rows}));
  EXPECT_FALSE(fits(Kernel::layer_norm_backward, {out({2, 3}), x, x, kAbsent, rows, kAbsent}));
  EXPECT_TRUE(fits(Kernel::layer_norm_weight_backward, {out({3}), out({3}), x, x, rows, rows}));
  EXPECT_FALSE(fits(Kernel::layer_norm_weight_backward, {out({3}), out({2}), x, x, rows, rows}));
  EXPECT_FALSE(fits(Kernel::layer_norm_weight_backward, {out({3}), out({3}), x, in({3, 2}), rows, rows}));
  constexpr std::int64_t kHuge = std::int64_t{1} << 60;
  Operand fake = in({kHuge, 3});
  fake.strides = Dims{0, 0};
  EXPECT_FALSE(fits(Kernel::layer_norm_weight_backward, {out({3}), out({3}), fake, fake, rows, rows}));
}

Operand running(const Dims& sizes, Dtype dtype = kF32) { return operand_at(0, dtype, sizes, Access::read_write); }

bool batch_norm_fits(const Operand& x, const Operand& mean, const Operand& running_mean, const Operand& weight) {
  Operand y = x;
  y.access = Access::write;
  return fits(Kernel::batch_norm, {y, mean, mean, running_mean, running_mean, x, weight, weight});
}

TEST(Schema, BatchNormHasEverythingAChannel) {
  const Operand x = in({2, 3, 4}), half = in({2, 3, 4}, kF16);
  EXPECT_TRUE(batch_norm_fits(x, out({3}), kAbsentRunning, kAbsent));
  EXPECT_TRUE(batch_norm_fits(x, out({3}), running({3}), in({3})));
  EXPECT_TRUE(batch_norm_fits(half, out({3}), running({3}), in({3})));
  EXPECT_TRUE(batch_norm_fits(half, out({3}), running({3}, kF16), in({3}, kF16)));
  EXPECT_FALSE(batch_norm_fits(half, out({3}, kF16), kAbsentRunning, kAbsent));
  EXPECT_FALSE(batch_norm_fits(x, out({3}), running({2}), in({3})));
  EXPECT_FALSE(batch_norm_fits(x, out({3}), running({3}, kF64), in({3})));
  EXPECT_FALSE(batch_norm_fits(x, out({3}), kAbsent, in({3})));
  EXPECT_FALSE(batch_norm_fits(in({2, 3}), out({3}), kAbsentRunning, kAbsent));
  EXPECT_TRUE(fits(Kernel::batch_norm_eval, {out({2, 3, 4}), x, in({3}), in({3}), kAbsent, kAbsent}));
  EXPECT_FALSE(fits(Kernel::batch_norm_eval, {out({2, 3, 4}), x, in({3}), kAbsent, kAbsent, kAbsent}));
  EXPECT_TRUE(fits(Kernel::batch_norm_backward, {out({2, 3, 4}), out({3}), out({3}), x, x, kAbsent, in({3}), in({3})}));
  EXPECT_FALSE(
      fits(Kernel::batch_norm_backward, {out({2, 3, 4}), out({3}), out({2}), x, x, kAbsent, in({3}), in({3})}));
}

// --- losses over classes -------------------------------------------------------------------------------------------

bool nll_fits(const Operand& loss, const Operand& target, const Operand& weight, std::uint64_t reduction) {
  return fits(Kernel::nll_loss, {loss, out({}), in({2, 3, 4}), target, weight}, reduction);
}

TEST(Schema, NllLossHasATargetForEveryPlace) {
  const Operand target = in({2, 4}, kI64);
  EXPECT_TRUE(nll_fits(out({2, 4}), target, kAbsent, 0));
  EXPECT_TRUE(nll_fits(out({}), target, in({3}), 1));
  EXPECT_TRUE(nll_fits(out({}), target, kAbsent, 2));
  EXPECT_FALSE(nll_fits(out({}), target, kAbsent, 0));
  EXPECT_FALSE(nll_fits(out({2, 4}), target, kAbsent, 1));
  EXPECT_FALSE(nll_fits(out({}), target, kAbsent, 3));
  EXPECT_FALSE(nll_fits(out({}), in({2, 4}, kI32), kAbsent, 1));
  EXPECT_FALSE(nll_fits(out({}), in({2, 3}, kI64), kAbsent, 1));
  EXPECT_FALSE(nll_fits(out({}), target, in({2}), 1));
  EXPECT_FALSE(nll_fits(out({}), target, in({3}, kF64), 1));
  EXPECT_FALSE(nll_fits(out({}, kF16), target, kAbsent, 1));
  EXPECT_FALSE(fits(Kernel::nll_loss, {out({}), out({}), in({2, 3}), in({2}, kI64), kAbsent}, 1));
}

TEST(Schema, TheGradientOfNllLossNeedsTheTotalWeight) {
  const Operand target = in({2, 4}, kI64), values = out({2, 3, 4});
  EXPECT_TRUE(fits(Kernel::nll_loss_backward, {values, in({2, 4}), target, kAbsent, in({})}, 0));
  EXPECT_TRUE(fits(Kernel::nll_loss_backward, {values, in({}), target, in({3}), in({})}, 1));
  EXPECT_FALSE(fits(Kernel::nll_loss_backward, {values, in({2, 4}), target, kAbsent, in({})}, 1));
  EXPECT_FALSE(fits(Kernel::nll_loss_backward, {values, in({}), target, kAbsent, kAbsent}, 1));
  EXPECT_FALSE(fits(Kernel::nll_loss_backward, {out({2, 3, 4}, kI64), in({}, kI64), target, kAbsent, in({}, kI64)}, 1));
}

// --- cost ----------------------------------------------------------------------------------------------------------

TEST(Cost, OfALossOverClassesReadsOneValueATarget) {
  const KernelCost forward =
      cost_of(call_of(Kernel::nll_loss, {out({}), out({}), in({10, 100, 1}), in({10, 1}, kI64), kAbsent}));
  EXPECT_EQ(forward.bytes, 10u * (4 + 8) + 4 + 4);
  EXPECT_EQ(forward.steps, 10u);
  const KernelCost backward =
      cost_of(call_of(Kernel::nll_loss_backward, {out({10, 100, 1}), in({}), in({10, 1}, kI64), kAbsent, in({})}));
  EXPECT_EQ(backward.bytes, 1000u * 4 + 10 * 8 + 4 + 4);
  EXPECT_EQ(backward.steps, 1000u);
}

TEST(Cost, OfNormalisationGoesByTheData) {
  const Operand x = in({10, 100}), rows = in({10});
  EXPECT_EQ(cost_of(call_of(Kernel::layer_norm, {out({10, 100}), out({10}), out({10}), x, kAbsent, kAbsent})).bytes,
            (2u * 1000 + 2 * 10) * 4);
  EXPECT_EQ(cost_of(call_of(Kernel::layer_norm_weight_backward, {out({100}), out({100}), x, x, rows, rows})).steps,
            1000u);
  EXPECT_EQ(cost_of(call_of(Kernel::softmax, {out({10, 100}), x})).flops, 5000u);
}

TEST(Cost, OfAReductionVisitsItsOutputsAlsoWhenThereIsNothingToReduce) {
  EXPECT_EQ(cost_of(call_of(Kernel::sum, {out({1, 1}), in({5, 6})})).steps, 30u);
  EXPECT_EQ(cost_of(call_of(Kernel::sum, {out({500, 1}), in({500, 0})})).steps, 500u);
  EXPECT_EQ(cost_of(call_of(Kernel::norm, {out({1}), in({5})})).flops, 10u);
}

}  // namespace
}  // namespace labrig::sim
