// The rules of operators that hold before any kernel runs: one device, shapes, types, and PyTorch's texts. What the
// kernels compute is tested on every backend in tests/contract.
#include "labrig/ops.hpp"

#include <gtest/gtest.h>

#include "expect_error.hpp"
#include "fake_card.hpp"
#include "ops/kernel.hpp"

namespace labrig {
namespace {

using test::AttachedCard;
using test::error_of;
using test::expect_error;

const Device kCard("sim:0");

TEST(SameDevice, IsDemandedInEitherOrderWithPyTorchsText) {
  AttachedCard card;
  Tensor x = zeros({2, 3}, kCard), mask = zeros({3});
  x.set_name("x");
  mask.set_name("mask");
  const char* const text =
      "Expected all tensors to be on the same device, but found at least two devices, sim:0 and cpu!";
  expect_error("device-mismatch", text, [&] { add(x, mask); });
  expect_error("device-mismatch", text, [&] { mul(mask, x); });
  expect_error("device-mismatch", text, [&] { add_(x, mask); });
  expect_error("device-mismatch", text, [&] { cat({x[0], mask}); });
  const Error error = error_of([&] { add(x, mask); });
  EXPECT_EQ(
      error.why(),
      "add works on one device: a 'x' is f32[2, 3] on sim:0, made by zeros; b 'mask' is f32[3] on cpu, made by zeros");
  EXPECT_NE(error.fix().find("move b with .to(\"sim:0\")"), std::string::npos) << error.fix();
}

TEST(SameDevice, IsDemandedOfAProductWithPyTorchsText) {
  AttachedCard card;
  const Tensor there = zeros({2, 2}, kCard), here = zeros({2, 2});
  expect_error(
      "device-mismatch",
      "Expected all tensors to be on the same device, but got mat2 is on cpu, different from other tensors on sim:0 "
      "(when checking argument in method wrapper_CUDA_mm)",
      [&] { matmul(there, here); });
  expect_error(
      "device-mismatch",
      "Expected all tensors to be on the same device, but got mat2 is on sim:0, different from other tensors on cpu "
      "(when checking argument in method wrapper_CUDA_mm)",
      [&] { matmul(here, there); });
}

TEST(SameDevice, LetsAZeroDimCpuTensorPassAsANumber) {
  AttachedCard card;
  const Tensor x = full({2}, 6, kCard), two = full({}, 2);
  card->launches.clear();
  const Tensor results[] = {add(x, two), sub(x, two), mul(two, x), div(x, two), sub(two, x), div(two, x)};
  const double expected[] = {8, 4, 12, 3, -4, 2.0 / 6};
  EXPECT_TRUE(card->copies.empty());
  for (int i = 0; i < 6; ++i) {
    EXPECT_EQ(results[i].device(), kCard);
    EXPECT_FLOAT_EQ(results[i][1].item<float>(), static_cast<float>(expected[i])) << i;
  }
}

TEST(ResultType, PromotesTensorsThenZeroDimTensorsThenNumbers) {
  const Tensor ints = zeros({2}, kI64), halfs = zeros({2}, kF16), floats = zeros({2});
  EXPECT_EQ(add(ints, halfs).dtype(), kF16);
  EXPECT_EQ(add(halfs, full({}, 1, kF64)).dtype(), kF16);
  EXPECT_EQ(add(full({}, 1, kF64), floats).dtype(), kF32);
  EXPECT_EQ(add(ints, full({}, 1, kF16)).dtype(), kF16);
  EXPECT_EQ(add(zeros({2}, kU8), full({}, 1, kI64)).dtype(), kU8);
  EXPECT_EQ(add(full({}, 1, kF16), full({}, 1, kF32)).dtype(), kF32);
  EXPECT_EQ((halfs * 2.5).dtype(), kF16);
  EXPECT_EQ((ints + 1).dtype(), kI64);
  EXPECT_EQ((ints + 1.0).dtype(), kF32);
  EXPECT_EQ((zeros({2}, kBool) + 1).dtype(), kI64);
  EXPECT_EQ((zeros({2}, kBool) + true).dtype(), kBool);
}

TEST(ResultType, OfADivisionIsFloatingPoint) {
  EXPECT_EQ(div(ones({2}, kI64), ones({2}, kI32)).dtype(), kF32);
  EXPECT_EQ((ones({2}, kI64) / 2).dtype(), kF32);
  EXPECT_EQ((ones({2}, kF16) / 2).dtype(), kF16);
}

TEST(ResultType, MustFitIntoTheTensorOfAnInPlaceOperation) {
  const Tensor ints = zeros({2}, kI64);
  expect_error("result-type", "result type Float can't be cast to the desired output type Long",
               [&] { add_(ints, ones({2})); });
  expect_error("result-type", "result type Float can't be cast to the desired output type Long",
               [&] { div_(ints, ones({2}, kI64)); });
  expect_error("result-type", "result type Long can't be cast to the desired output type Bool",
               [&] { add_(zeros({2}, kBool), ints); });
  EXPECT_TRUE(add_(ints, ones({2}, kI32)).is_same(ints));
}

TEST(ResultShape, FollowsBroadcastingWithPyTorchsTexts) {
  EXPECT_EQ(add(zeros({2, 1}), zeros({3})).sizes(), Dims({2, 3}));
  expect_error("shape-mismatch",
               "The size of tensor a (4) must match the size of tensor b (3) at non-singleton dimension 1",
               [] { add(zeros({4, 4}), zeros({4, 3})); });
  expect_error("shape-mismatch", "output with shape [3] doesn't match the broadcast shape [2, 3]",
               [] { add_(zeros({3}), zeros({2, 3})); });
}

TEST(Elementwise, RefusesBoolWhereItHasNoMeaning) {
  const Tensor flags = zeros({2}, kBool);
  EXPECT_EQ(error_of([&] { sub(flags, flags); }).code(), "result-type");
  EXPECT_EQ(error_of([&] { neg(flags); }).code(), "result-type");
  EXPECT_EQ(error_of([&] { relu(flags); }).code(), "result-type");
}

TEST(MaskedFill, NeedsABoolMask) {
  expect_error("dtype-mismatch", "masked_fill only supports boolean masks, but got dtype Float",
               [] { masked_fill(zeros({2}), zeros({2}), 1); });
}

TEST(Matmul, RefusesShapesAndTypesWithPyTorchsTexts) {
  expect_error("shape-mismatch", "mat1 and mat2 shapes cannot be multiplied (2x3 and 4x5)",
               [] { matmul(zeros({2, 3}), zeros({4, 5})); });
  expect_error("dtype-mismatch", "expected m1 and m2 to have the same dtype, but got: float != c10::Half",
               [] { matmul(zeros({2, 2}), zeros({2, 2}, kF16)); });
  AttachedCard card;
  expect_error("dtype-mismatch", "expected mat1 and mat2 to have the same dtype, but got: float != c10::Half",
               [] { matmul(zeros({2, 2}, kCard), zeros({2, 2}, {kF16, kCard})); });
  expect_error("dtype-mismatch", "\"addmm\" not implemented for 'Long'",
               [] { matmul(zeros({2, 2}, kI64), zeros({2, 2}, kI64)); });
  expect_error("shape-mismatch", "both arguments to matmul need to be at least 1D, but they are 0D and 2D",
               [] { matmul(zeros({}), zeros({2, 2})); });
}

TEST(Reduce, RefusesWhatHasNoResult) {
  EXPECT_EQ(error_of([] { mean(zeros({2}, kI64)); }).code(), "dtype-mismatch");
  expect_error("empty-reduction", "max(): Expected reduction dim 0 to have non-zero size.",
               [] { max(zeros({0, 2}), 0); });
  EXPECT_EQ(error_of([] { max(zeros({0})); }).code(), "empty-reduction");
  EXPECT_EQ(error_of([] { sum(zeros({2, 3}), 2); }).code(), "dimension-out-of-range");
}

TEST(Reduce, GivesTheShapeAndTypeOfPyTorch) {
  const Tensor x = zeros({2, 3, 4}, kU8);
  EXPECT_EQ(sum(x, -1).sizes(), Dims({2, 3}));
  EXPECT_EQ(sum(x, 1, true).sizes(), Dims({2, 1, 4}));
  EXPECT_EQ(sum(x).sizes(), Dims());
  EXPECT_EQ(sum(x).dtype(), kI64);
  EXPECT_EQ(max(x, 0).dtype(), kU8);
  EXPECT_EQ(mean(zeros({3}, kF16)).dtype(), kF16);
}

TEST(Reduce, ReadsAViewWhereItLies) {
  AttachedCard card;
  const Tensor x = zeros({8, 4}, kCard);
  card->launches.clear();
  sum(x.t());
  sum(x.narrow(1, 0, 2));
  ASSERT_EQ(card->launches.size(), 2u);
  EXPECT_EQ(card->launches[0].kernel, Kernel::sum);
  EXPECT_EQ(card->launches[1].kernel, Kernel::sum);
}

TEST(Cat, RefusesShapesWithPyTorchsTexts) {
  expect_error(
      "shape-mismatch",
      "Sizes of tensors must match except in dimension 0. Expected size 3 but got size 2 for tensor number 1 in the "
      "list.",
      [] { cat({zeros({2, 3}), zeros({2, 2})}); });
  expect_error("shape-mismatch", "Tensors must have same number of dimensions: got 2 and 1",
               [] { cat({zeros({2, 3}), zeros({2})}); });
  expect_error("shape-mismatch", "zero-dimensional tensor (at position 1) cannot be concatenated",
               [] { cat({zeros({1}), zeros({})}); });
  expect_error("shape-mismatch", "torch.cat(): expected a non-empty list of Tensors", [] { cat({}); });
  expect_error("shape-mismatch",
               "stack expects each tensor to be equal size, but got [3] at entry 0 and [2] at entry 1",
               [] { stack({zeros({3}), zeros({2})}); });
}

TEST(CpuBackend, RefusesACallThatDoesNotFitItsSchema) {
  float data[4] = {};
  KernelCall call;
  call.kernel = Kernel::relu;
  call.push({data, kF32, Access::write, {4}, {1}, {}});
  EXPECT_EQ(error_of([&] { backend_of("cpu").launch(call, 0); }).code(), "kernel-refused");
}

}  // namespace
}  // namespace labrig
