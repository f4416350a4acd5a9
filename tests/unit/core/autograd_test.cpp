// The engine: which gradients arrive where, in which order the graph is walked, and what it lets go.
#include "labrig/autograd.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "expect_error.hpp"
#include "fake_card.hpp"
#include "labrig/memory.hpp"
#include "labrig/ops.hpp"
#include "labrig/stream.hpp"
#include "support/gradcheck.hpp"

namespace labrig {
namespace {

using test::AttachedCard;
using test::expect_error;
using test::gradcheck_values;
using test::gradients_match;
using test::Tensors;
using Values = std::vector<double>;

const Device kCard("sim:0");

Values values(const Tensor& tensor) { return test::gradcheck::values_of(tensor); }
Tensor leaf(const std::vector<float>& data) { return tensor(data).requires_grad_(); }

// --- the checker itself --------------------------------------------------------------------------------------------

TEST(Autograd, MultipliesWithBroadcastingAndGaps) {
  const auto product = [](const Tensors& x) { return mul(x[0], x[1]); };
  const Tensor a = gradcheck_values({2, 3}, 1), b = gradcheck_values({3}, 2);
  EXPECT_TRUE(gradients_match(product, {a, b}));
  EXPECT_TRUE(gradients_match(product, {a.t(), gradcheck_values({3, 1}, 3).expand({3, 2})}));
  EXPECT_TRUE(gradients_match(product, {gradcheck_values({}, 4), a.narrow(1, 1, 0)}));
}

TEST(Autograd, IsFoundOutByTheDifferencesWhenItIsWrong) {
  const auto wrong = [](const Tensors& x) { return mul(x[0], x[0].detach()); };
  EXPECT_FALSE(gradients_match(wrong, {gradcheck_values({2}, 5)}));
}

// --- what arrives --------------------------------------------------------------------------------------------------

TEST(Autograd, AddsUpWhatArrivesOnSeveralWaysAndInSeveralPasses) {
  const Tensor x = leaf({1, 2, 3});
  const Tensor y = mul(x, x);
  sum(add(y, mul(y, x))).backward();  // x^2 + x^3
  EXPECT_EQ(values(x.grad()), (Values{5, 16, 33}));
  sum(x).backward();
  EXPECT_EQ(values(x.grad()), (Values{6, 17, 34}));
}

TEST(Autograd, StartsFromSeveralOutputsOneOfWhichLeadsToAnother) {
  const Tensor x = leaf({2});
  const Tensor y = mul(x, x), z = mul(y, y);
  autograd::backward({y, z}, {}, false);
  EXPECT_EQ(values(x.grad()), (Values{4 + 32}));
}

TEST(Autograd, StartsAtALeafToo) {
  const Tensor x = leaf({2});
  x.backward();
  EXPECT_EQ(values(x.grad()), (Values{1}));
}

TEST(Autograd, GivesGradientsOfChosenInputsAndAddsThemNowhere) {
  const Tensor x = leaf({2}), w = leaf({5});
  const Tensor y = mul(x, x), z = mul(y, w);
  const auto found = autograd::grad({z}, {y, x}, {}, true);
  EXPECT_EQ(values(found[0]), (Values{5}));
  EXPECT_EQ(values(found[1]), (Values{20}));
  EXPECT_FALSE(x.grad().defined());
  EXPECT_FALSE(w.grad().defined());
}

TEST(Autograd, SaysWhichInputTheOutputDoesNotDependOn) {
  const Tensor x = leaf({2}), other = leaf({3});
  const auto ask = [&](bool allow) { return autograd::grad({mul(x, x)}, {x, other}, {}, false, allow); };
  expect_error("unused-input",
               "One of the differentiated Tensors appears to not have been used in the graph. Set allow_unused=True if "
               "this is the desired behavior.",
               [&] { ask(false); });
  EXPECT_FALSE(ask(true)[1].defined());
  expect_error("no-gradient", "One of the differentiated Tensors does not require grad",
               [&] { autograd::grad({mul(x, x)}, {x.detach()}); });
}

TEST(Autograd, KeepsTheGradientOfATensorInBetweenWhenAsked) {
  const Tensor x = leaf({3});
  const Tensor y = mul(x, x), z = mul(y, y);
  y.retain_grad();
  z.backward();
  EXPECT_EQ(values(y.grad()), (Values{18}));
  EXPECT_FALSE(z.grad().defined());
}

TEST(Autograd, KeepsItForTheValueAfterAChangeInPlace) {
  const Tensor x = leaf({3});
  Tensor y = mul(x, Scalar(1));
  y.retain_grad();
  mul_(y, Scalar(2));
  sum(mul(y, Scalar(5))).backward();
  EXPECT_EQ(values(y.grad()), (Values{5}));
  EXPECT_EQ(values(x.grad()), (Values{10}));
}

TEST(Autograd, FitsAGradientToTheTypeOfItsTensor) {
  const Tensor x = leaf({3}), half = tensor(std::vector<float>{2}).to(kF16).requires_grad_();
  mul(x, half).backward();
  EXPECT_EQ(x.grad().dtype(), kF32);
  EXPECT_EQ(half.grad().dtype(), kF16);
  EXPECT_EQ(values(half.grad()), (Values{3}));
}

// --- how long things live ------------------------------------------------------------------------------------------

TEST(Autograd, LetsGoOfWhatWasSavedUnlessTheGraphIsRetained) {
  const Tensor x = leaf({3});
  const Tensor y = mul(x, x);
  y.backward({}, true);
  y.backward();
  EXPECT_EQ(values(x.grad()), (Values{12}));
  expect_error("graph-freed",
               "Trying to backward through the graph a second time (or directly access saved tensors after they have "
               "already been freed). Saved intermediate values of the graph are freed when you call .backward() or "
               "autograd.grad(). Specify retain_graph=True if you need to backward through the graph a second time or "
               "if you need to access saved tensors after calling backward.",
               [&] { y.backward(); });
}

TEST(Autograd, GoesASecondTimeThroughWhatHadNothingToSave) {
  const Tensor x = leaf({3, 4});
  const Tensor y = x.view({2, 1}).t();
  const Tensor ones_ = ones({1, 2});
  y.backward(ones_);
  y.backward(ones_);
  EXPECT_EQ(values(x.grad()), (Values{2, 2}));
}

TEST(Autograd, WalksAndFreesAGraphOfAMillionNodes) {
  const Tensor x = leaf({1});
  {
    Tensor y = x;
    for (int i = 0; i < 1'000'000; ++i) y = y.view({1});
    y.backward();
  }
  EXPECT_EQ(values(x.grad()), (Values{1}));
}

TEST(Autograd, GivesALeafTheGradientItselfWhenNobodyElseHoldsIt) {
  AttachedCard card;
  const Tensor x = zeros({1024}, kCard).requires_grad_();
  const Tensor y = zeros({1024}, kCard).requires_grad_();
  const Tensor gradient = ones({1024}, kCard);
  const auto copies_in = [&](const Tensor& out) {
    const std::size_t before = card->copies.size() + card->launches.size();
    out.backward(gradient);
    return card->copies.size() + card->launches.size() - before;
  };
  EXPECT_EQ(copies_in(mul(x, Scalar(2))), 1u);  // the product, which x takes
  const void* taken = x.grad().data_ptr();
  EXPECT_EQ(copies_in(mul(x, Scalar(2))), 2u);  // the product, added in place
  EXPECT_EQ(x.grad().data_ptr(), taken);
  EXPECT_EQ(copies_in(y.view({1024})), 1u);  // the caller's own gradient is cloned
  EXPECT_NE(y.grad().data_ptr(), gradient.data_ptr());
}

TEST(Autograd, GivesTwoLeavesTwoGradients) {
  const Tensor x = leaf({1, 2}), y = leaf({3, 4});
  sum(add(x, y.view({2}))).backward();
  add_(x.grad(), Scalar(10));
  EXPECT_EQ(values(x.grad()), (Values{11, 11}));
  EXPECT_EQ(values(y.grad()), (Values{1, 1}));
}

TEST(Autograd, LaysAGradientOutAsItsLeaf) {
  const Tensor x = zeros({2, 3}).t().requires_grad_();
  mul(x, ones({3, 2})).backward(ones({3, 2}));
  EXPECT_EQ(x.grad().strides(), (Dims{1, 3}));
}

// --- mistakes ------------------------------------------------------------------------------------------------------

TEST(Autograd, StartsOnlyFromOneNumberThatHasAWayBack) {
  const Tensor x = leaf({1, 2});
  expect_error("not-a-scalar", "grad can be implicitly created only for scalar outputs", [&] { mul(x, x).backward(); });
  expect_error("no-gradient", "element 0 of tensors does not require grad and does not have a grad_fn",
               [&] { sum(x.detach()).backward(); });
  expect_error("invalid-gradient",
               "Mismatch in shape: grad_output[0] has a shape of torch.Size([3]) and output[0] has a shape of "
               "torch.Size([2]).",
               [&] { mul(x, x).backward(ones({3})); });
  expect_error("invalid-gradient", "got 1 tensors and 2 gradients",
               [&] { autograd::backward({mul(x, x)}, {ones({2}), ones({2})}); });
}

TEST(Autograd, LeavesTheThreadAndTheGraphAsTheyWereWhenAStepThrows) {
  const Tensor x = leaf({1, 2});
  const Tensor y = mul(x, x), bad = exp(y);
  bad.detach().fill_(1);
  EXPECT_THROW(sum(bad).backward(), Error);
  EXPECT_TRUE(grad_enabled());
  y.backward(ones({2}));
  EXPECT_EQ(values(x.grad()), (Values{2, 4}));
}

TEST(Autograd, NotesNothingWhileItIsOff) {
  const Tensor x = leaf({1});
  {
    const NoGradGuard guard;
    EXPECT_FALSE(mul(x, x).requires_grad());
    const EnableGradGuard again;
    EXPECT_TRUE(mul(x, x).requires_grad());
  }
  EXPECT_TRUE(grad_enabled());
}

TEST(Autograd, IsForLeavesOfFloatingPointTypes) {
  expect_error("no-gradient", "only Tensors of floating point dtype can require gradients",
               [] { zeros({2}, kI64).requires_grad_(); });
  const Tensor x = leaf({1});
  const Tensor y = mul(x, x);
  expect_error("no-gradient",
               "you can only change requires_grad flags of leaf variables. If you want to use a computed variable in a "
               "subgraph that doesn't require differentiation use var_no_grad = var.detach().",
               [&] { y.requires_grad_(false); });
  EXPECT_TRUE(y.requires_grad_().requires_grad());
  EXPECT_FALSE(x.requires_grad_(false).requires_grad());
}

TEST(Autograd, DetachesAValueOrTheTensorItself) {
  const Tensor x = leaf({2});
  const Tensor y = mul(x, x);
  EXPECT_EQ(y.grad_fn(), "MulBackward0");
  EXPECT_TRUE(y.detach().is_leaf());
  EXPECT_FALSE(y.detach().requires_grad());
  EXPECT_EQ(y.detach().data_ptr(), y.data_ptr());
  y.detach_();
  EXPECT_TRUE(y.is_leaf());
  EXPECT_FALSE(y.requires_grad());
  expect_error("view-detached-in-place", "Can't detach views in-place. Use detach() instead.", [&] { x[0].detach_(); });
}

TEST(Autograd, ShowsTheHostAParameterForReadingOnly) {
  Tensor x = leaf({2});
  EXPECT_EQ(x.data<const float>()[0], 2);
  EXPECT_EQ(x.item(), 2);
  expect_error("requires-grad", "Can't call numpy() on Tensor that requires grad. Use tensor.detach().numpy() instead.",
               [&] { x.data<float>(); });
  x.detach().data<float>()[0] = 3;
  EXPECT_EQ(x.item(), 3);
}

TEST(Autograd, TakesOnlyAGradientThatFits) {
  const Tensor x = leaf({1, 2});
  expect_error("invalid-gradient",
               "attempting to assign a gradient of size '[3]' to a tensor of size '[2]'. Please ensure that the "
               "gradient and the "
               "tensor are the same size",
               [&] { x.set_grad(ones({3})); });
  expect_error("invalid-gradient", "assigned grad has data of a different type", [&] { x.set_grad(ones({2}, kF64)); });
  x.set_grad(ones({2}));
  EXPECT_EQ(values(x.grad()), (Values{1, 1}));
  x.set_grad({});
  EXPECT_FALSE(x.grad().defined());
}

// --- streams and devices -------------------------------------------------------------------------------------------

TEST(Autograd, RunsEachStepInTheStreamOfItsForward) {
  AttachedCard card;
  const Tensor x = ones({4}, kCard).requires_grad_();
  const Stream side = new_stream(kCard);
  Tensor y;
  {
    const StreamGuard guard(side);
    y = mul(x, x);
  }
  const Tensor z = mul(y, Scalar(2));
  const std::size_t before = card->launches.size();
  z.backward(ones({4}, kCard));
  EXPECT_EQ(current_stream(kCard).id(), 0);
  ASSERT_GE(card->launches.size(), before + 3);
  EXPECT_EQ(card->launches[before + 1].stream, 0);          // of z
  EXPECT_EQ(card->launches[before + 2].stream, side.id());  // of y
}

TEST(Autograd, SendsGradientsBackToWhereTheTensorsAre) {
  AttachedCard card(2);
  const Tensor x = ones({2}).requires_grad_();
  const Tensor far = x.to("sim:1").to(kF64);
  mul(far, far).backward(ones({2}, Options(kF64, "sim:1")));
  EXPECT_EQ(x.grad().device(), Device());
  EXPECT_EQ(x.grad().dtype(), kF32);
  EXPECT_EQ(values(x.grad()), (Values{2, 2}));
}

}  // namespace
}  // namespace labrig
