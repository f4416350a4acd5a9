// Changes in place: what is refused, what saved tensors notice, and how a change through a view becomes part of the way
// back of the tensor under it.
#include <gtest/gtest.h>

#include "expect_error.hpp"
#include "labrig/ops.hpp"
#include "support/gradcheck.hpp"

namespace labrig {
namespace {

using test::expect_error;
using test::gradcheck_values;
using test::gradients_match;
using test::Tensors;
using Values = std::vector<double>;

Values values(const Tensor& tensor) { return test::gradcheck::values_of(tensor); }
Tensor leaf(const std::vector<float>& data) { return tensor(data).requires_grad_(); }

constexpr char kLeaf[] = "a leaf Variable that requires grad is being used in an in-place operation.";

TEST(InPlace, IsRefusedForLeavesThatRequireAGradient) {
  const Tensor x = leaf({1, 2});
  expect_error("leaf-in-place", kLeaf, [&] { x.fill_(0); });
  expect_error("leaf-in-place", kLeaf, [&] { x.zero_(); });
  expect_error("leaf-in-place", kLeaf, [&] { x.copy_(ones({2})); });
  expect_error("leaf-in-place", kLeaf, [&] { mul_(x, Scalar(2)); });
  expect_error("leaf-in-place", std::string("a view of ") + kLeaf, [&] { x[0].fill_(0); });
  EXPECT_EQ(values(x), (Values{1, 2}));
  EXPECT_EQ(x.version(), 0u);
  const NoGradGuard guard;
  x[0].fill_(7);
  EXPECT_EQ(values(x), (Values{7, 2}));
}

TEST(InPlace, IsCountedOnceByAllViewsOfAMemory) {
  const Tensor x = zeros({2, 2});
  EXPECT_EQ(x.version(), 0u);
  x[1].fill_(1);
  x.copy_(ones({2}));
  x.detach().zero_();
  EXPECT_EQ(x.t().version(), 3u);
}

TEST(InPlace, IsNoticedByWhatWasSaved) {
  const Tensor x = leaf({1, 2});
  const Tensor y = exp(x);
  add_(y, Scalar(1));
  expect_error("modified-in-place",
               "one of the variables needed for gradient computation has been modified by an inplace operation: "
               "[torch.FloatTensor [2]], which is output 0 of ExpBackward0, is at version 1; expected version 0 "
               "instead. Hint: enable anomaly detection to find the operation that failed to compute its gradient, "
               "with torch.autograd.set_detect_anomaly(True, check_nan=False).",
               [&] { sum(y).backward(); });
}

TEST(InPlace, OfALeafBetweenForwardAndBackwardIsNoticedToo) {
  const Tensor x = leaf({1, 2}), w = leaf({3, 4});
  const Tensor y = mul(x, w);
  {
    const NoGradGuard guard;
    w.fill_(1);
  }
  expect_error("modified-in-place",
               "one of the variables needed for gradient computation has been modified by an inplace operation: "
               "[torch.FloatTensor [2]] is at version 1; expected version 0 instead. Hint: enable anomaly detection to "
               "find the operation that failed to compute its gradient, with torch.autograd.set_detect_anomaly(True, "
               "check_nan=False).",
               [&] { y.backward(ones({2})); });
}

TEST(InPlace, FillsAndCopiesCutTheWayBack) {
  const auto filled = [](const Tensors& x) {
    const Tensor y = mul(x[0], x[0]);
    y[0].fill_(3);
    y[1].zero_();
    return mul(y, y);
  };
  EXPECT_TRUE(gradients_match(filled, {gradcheck_values({3, 2}, 1)}));
  const auto copied = [](const Tensors& x) {
    const Tensor y = mul(x[0], Scalar(2));
    y.copy_(x[1]);
    return mul(y, x[0]);
  };
  EXPECT_TRUE(gradients_match(copied, {gradcheck_values({3, 2}, 2), gradcheck_values({2}, 3)}));
}

TEST(InPlace, CollectsRowsInAnEmptyTensor) {
  const auto collect = [](const Tensors& x) {
    const Tensor out = zeros({3, 2}, kF64);
    for (int i = 0; i < 3; ++i) out.narrow(0, i, 1).copy_(mul(x[0], x[1][i]));
    return mul(out, out);
  };
  EXPECT_TRUE(gradients_match(collect, {gradcheck_values({2}, 4), gradcheck_values({3}, 5)}));
}

TEST(InPlace, ThroughAViewChangesTheTensorUnderItAndItsOtherViews) {
  const auto change = [](const Tensors& x) {
    const Tensor y = mul(x[0], Scalar(1));
    const Tensor row = y[0], column = y.t()[0], all = y.view({-1});
    mul_(row, x[1]);
    add_(column, x[2]);
    add_(all, Scalar(1));
    return mul(mul(row, row), mul(y, all.view({3, 3}).t()));
  };
  EXPECT_TRUE(
      gradients_match(change, {gradcheck_values({3, 3}, 6), gradcheck_values({3}, 7), gradcheck_values({3}, 8)}));
}

TEST(InPlace, TakesAnotherViewOfTheSameTensorAsOperand) {
  const auto change = [](const Tensors& x) {
    const Tensor y = mul(x[0], x[0]);
    add_(y[0], y[1]);
    y[2].copy_(y[0]);
    return mul(y, y);
  };
  EXPECT_TRUE(gradients_match(change, {gradcheck_values({3, 2}, 9)}));
}

TEST(InPlace, WorksOnABaseThatIsNotContiguous) {
  const auto change = [](const Tensors& x) {
    const Tensor y = zeros({2, 3}, kF64).t().detach();
    y.copy_(x[0].t());
    mul_(y.narrow(1, 0, 1), x[1]);
    return mul(y, x[0].t());
  };
  EXPECT_TRUE(gradients_match(change, {gradcheck_values({2, 3}, 10), gradcheck_values({1}, 11)}));
}

TEST(InPlace, GivesTheStepsPyTorchsNames) {
  const Tensor x = leaf({1, 2});
  const Tensor y = mul(x, Scalar(1)), first = y[0];
  EXPECT_EQ(first.grad_fn(), "SelectBackward0");
  first.fill_(0);
  EXPECT_EQ(y.grad_fn(), "CopySlices");
  EXPECT_EQ(first.grad_fn(), "AsStridedBackward0");
}

TEST(InPlace, MakesAPlainTensorPartOfTheGraph) {
  const Tensor x = leaf({1, 2});
  const Tensor out = zeros({2}), last = out[1];
  EXPECT_FALSE(last.requires_grad());
  out[0].copy_(x[1]);
  EXPECT_TRUE(out.requires_grad());
  EXPECT_FALSE(out.is_leaf());
  EXPECT_TRUE(last.requires_grad());
  sum(out).backward();
  EXPECT_EQ(values(x.grad()), (Values{0, 1}));
}

TEST(InPlace, IsRefusedForExpandedTensorsAndForViewsMadeWithoutGradients) {
  const Tensor x = leaf({1, 2});
  const Tensor y = mul(x, Scalar(1));
  EXPECT_EQ(test::error_of([&] { y.unsqueeze(0).expand({3, 2}).fill_(0); }).code(), "overlapping-output");
  Tensor view;
  const Tensor out = zeros({2});
  {
    const NoGradGuard guard;
    view = out[0];
  }
  EXPECT_EQ(test::error_of([&] { view.copy_(x[0]); }).code(), "view-without-grad");
}

TEST(SavedTensors, OfALeafNameNoProducer) {
  const Tensor scores = zeros({2, 3}).requires_grad_(), target = zeros({2}, kI64);
  const Tensor loss = cross_entropy(scores, target);
  target.fill_(1);
  const Error error = test::error_of([&] { loss.backward(); });
  EXPECT_NE(std::string(error.what()).find("[torch.LongTensor [2]] is at version 1; expected version 0"),
            std::string::npos)
      << error.what();
}

TEST(InPlace, RefusesAViewWithoutAWayBackBeforeItWrites) {
  const Tensor y = ones({2});
  Tensor view;
  {
    const NoGradGuard guard;
    view = y[0];
  }
  const Tensor w = full({}, 3).requires_grad_();
  EXPECT_EQ(test::error_of([&] { mul_(view, w); }).code(), "view-without-grad");
  EXPECT_EQ(test::error_of([&] { view.copy_(w); }).code(), "view-without-grad");
  EXPECT_EQ(y[0].item(), 1);
  EXPECT_EQ(y.version(), 0u);
}

TEST(InPlace, RefusesACopyFromMemoryThatIsPartlyItsOwn) {
  const Tensor y = arange(6).to(kF32);
  EXPECT_EQ(test::error_of([&] { y.narrow(0, 1, 5).copy_(y.narrow(0, 0, 5)); }).code(), "partial-overlap");
  y.narrow(0, 3, 3).copy_(y.narrow(0, 0, 3));  // apart
  EXPECT_EQ(y[3].item(), 0);
}

}  // namespace
}  // namespace labrig
