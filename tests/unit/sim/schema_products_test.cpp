// The schema of products, convolutions and indexing: what fits, what a hostile client may send, what it costs.
#include <gtest/gtest.h>

#include <limits>

#include "schema_calls.hpp"

namespace labrig::sim {
namespace {

constexpr std::int64_t kHuge = std::numeric_limits<std::int64_t>::max();

TEST(Schema, ABatchOfProductsNeedsThreeDimensionsAndOneBatch) {
  EXPECT_TRUE(fits(Kernel::bmm, {out({5, 2, 4}), in({5, 2, 3}), in({5, 3, 4})}));
  EXPECT_FALSE(fits(Kernel::bmm, {out({5, 2, 4}), in({4, 2, 3}), in({5, 3, 4})}));
  EXPECT_FALSE(fits(Kernel::bmm, {out({5, 2, 4}), in({5, 2, 3}), in({1, 3, 4})}));
  EXPECT_FALSE(fits(Kernel::bmm, {out({2, 4}), in({2, 3}), in({3, 4})}));
  EXPECT_FALSE(fits(Kernel::matmul, {out({5, 2, 4}), in({5, 2, 3}), in({5, 3, 4})}));
}

TEST(Schema, ALayerReadsItsWeightTransposedAndMayLackABias) {
  EXPECT_TRUE(fits(Kernel::linear, {out({2, 4}), in({2, 3}), in({4, 3}), in({4})}));
  EXPECT_TRUE(fits(Kernel::linear, {out({2, 4}), in({2, 3}), in({4, 3}), absent_operand()}));
  EXPECT_FALSE(fits(Kernel::linear, {out({2, 4}), in({2, 3}), in({3, 4}), absent_operand()}));
  EXPECT_FALSE(fits(Kernel::linear, {out({2, 4}), in({2, 3}), in({4, 3}), in({3})}));
  EXPECT_FALSE(fits(Kernel::linear, {out({2, 4}), in({2, 3}), in({4, 3}), in({4}, kF16)}));
  EXPECT_FALSE(fits(Kernel::linear, {out({2, 4}), in({2, 3}), absent_operand(), absent_operand()}));
}

TEST(Schema, SumsOfNothingAreLimitedByWhatTheyWrite) {
  const KernelCall call = call_of(Kernel::matmul, {out({1000, 1000}), in({1000, 0}), in({0, 1000})});
  EXPECT_EQ(schema_violation(call), std::nullopt);
  EXPECT_EQ(cost_of(call).steps, 1'000'000u);
  EXPECT_EQ(cost_of(call).flops, 0u);
}

// A call of a convolution, with stride and padding.
KernelCall convolution(Kernel kernel, std::initializer_list<Operand> operands,
                       std::initializer_list<std::uint64_t> steps = {1, 1, 0, 0}) {
  KernelCall call = call_of(kernel, operands);
  std::copy(steps.begin(), steps.end(), call.scalars.begin());
  return call;
}
bool convolves(Kernel kernel, std::initializer_list<Operand> operands,
               std::initializer_list<std::uint64_t> steps = {1, 1, 0, 0}) {
  return !schema_violation(convolution(kernel, operands, steps));
}

TEST(Schema, AConvolutionAndItsGradientsStandInOneRelation) {
  const Dims image{2, 3, 6, 5}, weight{4, 3, 3, 2}, map{2, 4, 4, 4};
  EXPECT_TRUE(convolves(Kernel::conv2d, {out(map), in(image), in(weight), in({4})}));
  EXPECT_TRUE(convolves(Kernel::conv2d, {out(map), in(image), in(weight), absent_operand()}));
  EXPECT_TRUE(convolves(Kernel::conv2d_input_backward, {out(image), in(map), in(weight)}));
  EXPECT_TRUE(convolves(Kernel::conv2d_weight_backward, {out(weight), in(map), in(image)}));
  EXPECT_FALSE(convolves(Kernel::conv2d_input_backward, {out(map), in(image), in(weight)}));
  EXPECT_FALSE(convolves(Kernel::conv2d_weight_backward, {out(weight), in(image), in(map)}));
  EXPECT_TRUE(convolves(Kernel::conv2d, {out({2, 4, 3, 4}), in(image), in(weight), absent_operand()}, {2, 2, 1, 2}));
  EXPECT_FALSE(convolves(Kernel::conv2d, {out(map), in(image), in(weight), absent_operand()}, {2, 1, 0, 0}));
  EXPECT_FALSE(convolves(Kernel::conv2d, {out(map), in(image), in({4, 2, 3, 2}), absent_operand()}));
  EXPECT_FALSE(convolves(Kernel::conv2d, {out(map), in(image), in(weight), in({3})}));
  EXPECT_FALSE(convolves(Kernel::conv2d, {out(map, kI64), in(image, kI64), in(weight, kI64), absent_operand()}));
}

TEST(Schema, HostileConvolutionsAreRefused) {
  const auto hostile = [](std::initializer_list<std::uint64_t> steps, const Dims& image, const Dims& weight) {
    return convolves(Kernel::conv2d, {out({1, 1, 1, 1}), in(image), in(weight), absent_operand()}, steps);
  };
  constexpr std::uint64_t kAll = ~std::uint64_t{0}, kTop = std::uint64_t{1} << 63;
  EXPECT_TRUE(hostile({1, 1, 0, 0}, {1, 1, 3, 3}, {1, 1, 3, 3}));
  EXPECT_FALSE(hostile({0, 1, 0, 0}, {1, 1, 3, 3}, {1, 1, 3, 3}));
  EXPECT_FALSE(hostile({1, 0, 0, 0}, {1, 1, 3, 3}, {1, 1, 3, 3}));
  for (const std::uint64_t large : {kAll, kTop}) {
    EXPECT_FALSE(hostile({large, 1, 0, 0}, {1, 1, 3, 3}, {1, 1, 3, 3}));
    EXPECT_FALSE(hostile({1, 1, large, 0}, {1, 1, 3, 3}, {1, 1, 3, 3}));
    EXPECT_FALSE(hostile({1, 1, 0, large}, {1, 1, 3, 3}, {1, 1, 3, 3}));
  }
  EXPECT_FALSE(hostile({1, 1, 0, 0}, {1, 1, 3, 3}, {1, 1, 4, 3}));
  EXPECT_FALSE(hostile({1, 1, 0, 0}, {1, 1, 3, 3}, {1, 1, 0, 3}));
  EXPECT_FALSE(hostile({1, 1, 0, 0}, {1, 0, kHuge, kHuge}, {1, 0, 1, 1}));
}

TEST(Cost, OfAConvolutionWithoutOutputsIsNothingWhateverItsWeight) {
  const Dims image{0, 0, kHuge, kHuge}, weight{0, 0, kHuge, kHuge}, map{0, 0, 1, 1};
  const KernelCall call = convolution(Kernel::conv2d, {out(map), in(image), in(weight), absent_operand()});
  EXPECT_EQ(schema_violation(call), std::nullopt);
  EXPECT_EQ(cost_of(call).flops, 0u);
}

TEST(Cost, OfAConvolutionIsTheSameForwardAndBack) {
  const Dims image{2, 3, 6, 5}, weight{4, 3, 3, 2}, map{2, 4, 4, 4};
  const std::uint64_t flops = 2u * (2 * 4 * 4 * 4) * (3 * 3 * 2);
  const KernelCost forward = cost_of(convolution(Kernel::conv2d, {out(map), in(image), in(weight), absent_operand()}));
  EXPECT_EQ(forward.flops, flops);
  EXPECT_TRUE(forward.matrix);
  EXPECT_EQ(cost_of(convolution(Kernel::conv2d_input_backward, {out(image), in(map), in(weight)})).flops, flops);
  EXPECT_EQ(cost_of(convolution(Kernel::conv2d_weight_backward, {out(weight), in(map), in(image)})).flops, flops);
}

Operand changed(const Dims& sizes, Dtype dtype = kF32) { return operand_at(0, dtype, sizes, Access::read_write); }

TEST(Schema, IndicesStandForLeadingDimensions) {
  const Operand none = absent_operand();
  const auto picks = [&](const Dims& to, const Dims& from, const Operand& i0, const Operand& i1) {
    return fits(Kernel::index, {out(to), in(from), i0, i1, none, none});
  };
  const Operand two = in({2}, kI64);
  EXPECT_TRUE(picks({2, 4, 3}, {5, 4, 3}, two, none));
  EXPECT_TRUE(picks({2, 3}, {5, 4, 3}, two, two));
  EXPECT_TRUE(picks({3}, {5, 3}, in({}, kI64), none));
  EXPECT_FALSE(picks({2, 4, 3}, {5, 4, 3}, two, two));
  EXPECT_FALSE(picks({2, 4}, {5, 4, 3}, two, none));
  EXPECT_FALSE(picks({2, 4, 3}, {5, 4, 3}, in({2}, kI32), none));
  EXPECT_FALSE(picks({2, 3}, {5, 4, 3}, two, in({3}, kI64)));
  EXPECT_FALSE(picks({2}, {5}, two, two));
  EXPECT_FALSE(fits(Kernel::index, {out({2, 3}), in({5, 4, 3}), two, none, two, none}));
  EXPECT_FALSE(fits(Kernel::index, {out({2, 4}, kF64), in({5, 4}), two, none, none, none}));
  EXPECT_FALSE(fits(Kernel::index, {out({2, kHuge}), in({5, kHuge}), two, none, none, none}));
}

TEST(Schema, IndexAddAddsFloatsToWhatIndexWouldPick) {
  const Operand none = absent_operand(), two = in({2}, kI64);
  EXPECT_TRUE(fits(Kernel::index_add, {changed({5, 4}), in({2, 4}), two, none, none, none}));
  EXPECT_FALSE(fits(Kernel::index_add, {changed({2, 4}), in({5, 4}), two, none, none, none}));
  EXPECT_FALSE(fits(Kernel::index_add, {changed({5, 4}, kI64), in({2, 4}, kI64), two, none, none, none}));
  EXPECT_FALSE(fits(Kernel::index_add, {out({5, 4}), in({2, 4}), two, none, none, none}));
}

TEST(Cost, OfIndexingCountsWhatMovesAndNotWhatItIsPickedFrom) {
  const Operand none = absent_operand(), two = in({2}, kI64);
  const KernelCost pick = cost_of(call_of(Kernel::index, {out({2, 4}), in({1000, 4}), two, none, none, none}));
  EXPECT_EQ(pick.bytes, 2u * 8 * 4 + 2 * 8);
  EXPECT_EQ(pick.flops, 0u);
  const KernelCost add = cost_of(call_of(Kernel::index_add, {changed({1000, 4}), in({2, 4}), two, none, none, none}));
  EXPECT_EQ(add.bytes, 3u * 8 * 4 + 2 * 8);
  EXPECT_EQ(add.flops, 8u);
}

}  // namespace
}  // namespace labrig::sim
