// index, index_select, embedding, cat and stack: what is picked and joined, what comes back to where, and what PyTorch
// refuses.
#include <gtest/gtest.h>

#include <algorithm>

#include "expect_error.hpp"
#include "fake_card.hpp"
#include "host_values.hpp"
#include "labrig/ops.hpp"
#include "support/gradcheck.hpp"

namespace labrig {
namespace {

using test::AttachedCard;
using test::error_of;
using test::expect_error;
using test::gradcheck_values;
using test::gradients_match;
using test::Tensors;
using test::values;
using Doubles = std::vector<double>;

Tensor ids(const std::vector<std::int64_t>& values) { return tensor<std::int64_t>(values); }
Tensor counted(const Dims& sizes) { return arange(sizes.product()).to(kF32).view(sizes); }

TEST(Index, PicksByOneOrMoreTensorsOfIndices) {
  const Tensor x = counted({3, 4, 2});
  EXPECT_EQ(values(index(x, {ids({2, 0})}).select(2, 0).select(1, 1)), (Doubles{18, 2}));
  const Tensor two = index(x, {ids({2, -1}), ids({1, -4})});
  EXPECT_EQ(two.sizes(), Dims({2, 2}));
  EXPECT_EQ(values(two), (Doubles{18, 19, 16, 17}));
  const Tensor rows = ids({0, 2}).unsqueeze(1), columns = ids({3, 1, 0}).to(kI32);
  EXPECT_EQ(index(x, {rows, columns}).sizes(), Dims({2, 3, 2}));
  EXPECT_EQ(values(index(x, {rows, columns}).select(2, 0)), (Doubles{6, 2, 0, 22, 18, 16}));
  EXPECT_EQ(index(x, {full({}, 1, kI64)}).sizes(), Dims({4, 2}));
  EXPECT_EQ(index(x, {ids({})}).sizes(), Dims({0, 4, 2}));
}

TEST(Index, PicksWhereAMaskIsTrue) {
  const Tensor x = counted({2, 3});
  EXPECT_EQ(values(index(x, {gt(x, 2.5)})), (Doubles{3, 4, 5}));
  EXPECT_EQ(values(index(x, {ids({0, 1}).to(kBool)})), (Doubles{3, 4, 5}));
  EXPECT_EQ(values(index(x, {ids({1, 0}).to(kU8)})), (Doubles{0, 1, 2})) << "bytes are a mask in PyTorch, too";
  EXPECT_EQ(index(x, {gt(x, 9)}).sizes(), Dims({0}));
}

TEST(Index, TakesIndicesFromTheHostForATensorOnACard) {
  AttachedCard card;
  const Tensor x = counted({3, 2}).to("sim:0");
  EXPECT_EQ(values(index(x, {ids({2, -3})})), (Doubles{4, 5, 0, 1}));
  card->copies.clear();
  EXPECT_EQ(values(index(x, {gt(x, 3)})), (Doubles{4, 5}));
  const auto reads_a_value = [](const auto& copy) { return copy.cause == trace::Cause::value; };
  EXPECT_EQ(std::count_if(card->copies.begin(), card->copies.end(), reads_a_value), 1) << "the mask";
}

TEST(Index, AddsUpWhatWasPickedTwice) {
  const Tensor x = ones({3, 2}).requires_grad_();
  index(x, {ids({1, 1, -1})}).backward(full({3, 2}, 2));
  EXPECT_EQ(values(x.grad()), (Doubles{0, 0, 4, 4, 2, 2}));
}

TEST(Index, HasTheGradientsThatDifferencesSayOnHostAndCard) {
  AttachedCard card;
  for (const char* device : {"cpu", "sim:0"}) {
    const Tensor x = gradcheck_values({3, 2, 4}, 1).to(device), gaps = x.transpose(0, 2).slice(0, 0, 4, 2);
    const auto pick_rows = [](const Tensors& t) { return index(t[0], {ids({1, 0, 1})}); };
    const auto pick_pairs = [](const Tensors& t) { return index(t[0], {ids({1, 0, 1}).unsqueeze(1), ids({0, 1})}); };
    const auto pick_true = [&](const Tensors& t) { return index(t[0], {gt(x, 0)}); };
    EXPECT_TRUE(gradients_match(pick_rows, {x})) << device;
    EXPECT_TRUE(gradients_match(pick_rows, {gaps})) << device;
    EXPECT_TRUE(gradients_match(pick_pairs, {gaps})) << device;
    EXPECT_TRUE(gradients_match(pick_true, {x})) << device;
    EXPECT_TRUE(gradients_match([](const Tensors& t) { return index(t[0], {ids({})}); }, {x})) << device;
  }
}

TEST(Index, RefusesWithPyTorchsTexts) {
  AttachedCard card;
  const Tensor x = counted({2, 3});
  expect_error("dtype-mismatch", "tensors used as indices must be long, int, byte or bool tensors",
               [&] { index(x, {ones({2})}); });
  expect_error("index-out-of-range", "index 5 is out of bounds for dimension 0 with size 2",
               [&] { index(x, {ids({0, 5})}); });
  expect_error("index-out-of-range", "index -4 is out of bounds for dimension 1 with size 3",
               [&] { index(x, {ids({0, 1}), ids({-3, -4})}); });
  expect_error("index-out-of-range", "index is out of bounds for dimension with size 0",
               [] { index(ones({0, 3}), {ids({0})}); });
  expect_error("shape-mismatch", "too many indices for tensor of dimension 2",
               [&] { index(x, {ids({0}), ids({0}), ids({0})}); });
  expect_error("shape-mismatch",
               "shape mismatch: indexing tensors could not be broadcast together with shapes [2], [3]",
               [&] { index(x, {ids({0, 1}), ids({0, 1, 2})}); });
  expect_error("shape-mismatch",
               "The shape of the mask [3] at index 0 does not match the shape of the indexed tensor [2, 3] at index 0",
               [&] { index(x, {ones({3}, kBool)}); });
  expect_error("device-mismatch", "indices should be either on cpu or on the same device as the indexed tensor (cpu)",
               [&] { index(x, {ids({0}).to("sim:0")}); });
  EXPECT_NE(error_of([&] { index(x, {ids({0, 5})}); }).why().find("number 1 of the indices; allowed are -2 to 1"),
            std::string::npos);
}

TEST(IndexSelect, PicksAlongAnyDimensionAndPutsGradientsBack) {
  const Tensor x = counted({2, 3});
  EXPECT_EQ(values(index_select(x, 1, ids({2, 0}))), (Doubles{2, 0, 5, 3}));
  EXPECT_EQ(values(index_select(x, 0, full({}, 1, kI32))), (Doubles{3, 4, 5}));
  for (const int dim : {0, 1, -1}) {
    const auto rows = [dim](const Tensors& t) { return index_select(t[0], dim, ids({1, 0, 1})); };
    EXPECT_TRUE(gradients_match(rows, {gradcheck_values({2, 3, 2}, 1)})) << dim;
    EXPECT_TRUE(gradients_match(rows, {gradcheck_values({2, 2, 3}, 1).transpose(1, 2)})) << dim;
  }
  expect_error("index-out-of-range", "index out of range in self", [&] { index_select(x, 0, ids({0, 2})); });
  expect_error("index-out-of-range", "index out of range in self", [&] { index_select(x, 0, ids({-1})); });
  expect_error("shape-mismatch", "index_select(): Index is supposed to be a vector",
               [&] { index_select(x, 0, zeros({1, 1}, kI64)); });
}

TEST(Embedding, PicksRowsAndLeavesThePaddingWithoutAGradient) {
  const Tensor table = counted({4, 2}).requires_grad_();
  const Tensor words = ids({3, 1, 1, 0}).view({2, 2});
  const Tensor out = embedding(words, table, 1);
  EXPECT_EQ(out.sizes(), Dims({2, 2, 2}));
  EXPECT_EQ(values(out), (Doubles{6, 7, 2, 3, 2, 3, 0, 1}));
  EXPECT_EQ(out.grad_fn(), "EmbeddingBackward0");
  out.backward(ones({2, 2, 2}));
  EXPECT_EQ(values(table.grad()), (Doubles{1, 1, 0, 0, 0, 0, 1, 1}));
  const auto lookup = [&](const Tensors& t) { return embedding(words.to(kI32), t[0]); };
  EXPECT_TRUE(gradients_match(lookup, {gradcheck_values({4, 3}, 1)}));
}

TEST(Embedding, RefusesWithPyTorchsTexts) {
  AttachedCard card;
  const Tensor table = ones({4, 2}), there = table.to("sim:0");
  expect_error("index-out-of-range", "index out of range in self", [&] { embedding(ids({4}), table); });
  expect_error("dtype-mismatch",
               "Expected tensor for argument #1 'indices' to have one of the following scalar types: Long, Int; but "
               "got torch.sim.FloatTensor instead (while checking arguments for embedding)",
               [&] { embedding(ones({2}, Device("sim:0")), there); });
  expect_error("device-mismatch",
               "Expected all tensors to be on the same device, but got index is on cpu, different from other tensors "
               "on sim:0 (when checking argument in method wrapper_CUDA__index_select)",
               [&] { embedding(ids({1}), there); });
  expect_error("index-out-of-range", "Padding_idx must be within num_embeddings",
               [&] { embedding(ids({1}), table, 4); });
}

TEST(Cat, GivesEachPartItsPieceOfTheGradient) {
  const auto joined = [](const Tensors& t) { return cat({t[0], t[1], t[0]}, -1); };
  EXPECT_TRUE(gradients_match(joined, {gradcheck_values({2, 3}, 1), gradcheck_values({4, 2}, 2).t().narrow(1, 0, 1)}));
  EXPECT_TRUE(gradients_match([](const Tensors& t) { return cat({t[0], t[1]}, 0); },
                              {gradcheck_values({0}, 1), gradcheck_values({2, 2}, 2)}));
  const Tensor narrow = ones({2}, kF16).requires_grad_(), wide = ones({1}).requires_grad_();
  const Tensor out = cat({narrow, wide});
  EXPECT_EQ(out.dtype(), kF32);
  out.backward(counted({3}));
  EXPECT_EQ(narrow.grad().dtype(), kF16);
  EXPECT_EQ(values(narrow.grad()), (Doubles{0, 1}));
  EXPECT_EQ(values(wide.grad()), Doubles{2});
}

TEST(Stack, GivesEachSliceItsPieceOfTheGradient) {
  for (const int dim : {0, 1, -1}) {
    const auto stacked = [dim](const Tensors& t) { return stack({t[0], t[1]}, dim); };
    EXPECT_TRUE(gradients_match(stacked, {gradcheck_values({2, 3}, 1), gradcheck_values({3, 2}, 2).t()})) << dim;
  }
  EXPECT_TRUE(gradients_match([](const Tensors& t) { return stack({t[0], t[1]}); },
                              {gradcheck_values({}, 1), gradcheck_values({}, 2)}));
}

}  // namespace
}  // namespace labrig
