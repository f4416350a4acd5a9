// Gradients through views and copies, against central differences, and the names of their steps.
#include <gtest/gtest.h>

#include "fake_card.hpp"
#include "labrig/memory.hpp"
#include "labrig/ops.hpp"
#include "support/gradcheck.hpp"

namespace labrig {
namespace {

using test::gradcheck_values;
using test::gradients_match;
using test::Tensors;

struct View {
  const char* node;
  Tensor (*of)(const Tensor& x);  // x has shape [2, 3, 4]
};

const View kViews[] = {
    {"ViewBackward0", [](const Tensor& x) { return x.view({6, -1}); }},
    {"ViewBackward0", [](const Tensor& x) { return x.reshape({4, 6}); }},
    {"ViewBackward0", [](const Tensor& x) { return x.flatten(); }},
    {"UnsafeViewBackward0", [](const Tensor& x) { return x.transpose(0, 2).reshape({12, 2}); }},
    {"TransposeBackward0", [](const Tensor& x) { return x.transpose(0, -1); }},
    {"TBackward0", [](const Tensor& x) { return x.select(0, 1).t(); }},
    {"PermuteBackward0", [](const Tensor& x) { return x.permute({2, 0, 1}); }},
    {"UnsqueezeBackward0", [](const Tensor& x) { return x.unsqueeze(1); }},
    {"SqueezeBackward1", [](const Tensor& x) { return x.narrow(1, 2, 1).squeeze(1); }},
    {"SqueezeBackward1", [](const Tensor& x) { return x.squeeze(0); }},
    {"ExpandBackward0", [](const Tensor& x) { return x.unsqueeze(1).expand({5, 2, 3, 3, 4}); }},
    {"SliceBackward0", [](const Tensor& x) { return x.narrow(1, 1, 2); }},
    {"SliceBackward0", [](const Tensor& x) { return x.narrow(1, 1, 0); }},
    {"SliceBackward0", [](const Tensor& x) { return x.slice(-1, 0, 4, 3); }},
    {"SelectBackward0", [](const Tensor& x) { return x.select(1, -1); }},
    {"SelectBackward0", [](const Tensor& x) { return x[1]; }},
    {"CloneBackward0", [](const Tensor& x) { return x.clone(); }},
    {"CloneBackward0", [](const Tensor& x) { return x.transpose(0, 1).contiguous(); }},
    {"ToCopyBackward0", [](const Tensor& x) { return x.to(kF64, true); }},
};

TEST(ViewsGradient, GoesBackThroughEveryView) {
  for (const View& view : kViews) {
    const auto function = [&](const Tensors& x) { return view.of(x[0]); };
    EXPECT_EQ(view.of(gradcheck_values({2, 3, 4}, 1).requires_grad_()).grad_fn(), view.node);
    EXPECT_TRUE(gradients_match(function, {gradcheck_values({2, 3, 4}, 1)})) << view.node;
    const Tensor gaps = gradcheck_values({3, 2, 5}, 2).transpose(0, 1).narrow(2, 1, 4);
    if (view.node != kViews[0].node) {
      EXPECT_TRUE(gradients_match(function, {gaps})) << view.node;
    }
  }
}

TEST(ViewsGradient, GoesBackThroughViewsOfViews) {
  const auto function = [](const Tensors& x) { return mul(x[0].t().narrow(0, 1, 2)[0].view({3, 1}), x[1]); };
  EXPECT_TRUE(gradients_match(function, {gradcheck_values({3, 4}, 3), gradcheck_values({2}, 4)}));
}

TEST(ViewsGradient, GoesBackThroughScalarsAndEmptyTensors) {
  EXPECT_TRUE(
      gradients_match([](const Tensors& x) { return x[0].unsqueeze(0).expand({3}); }, {gradcheck_values({}, 5)}));
  EXPECT_TRUE(gradients_match([](const Tensors& x) { return x[0].permute({1, 0}); }, {gradcheck_values({0, 3}, 6)}));
}

TEST(ViewsGradient, CostsNoMemoryWhereTheViewShowsEveryElementOnce) {
  test::AttachedCard card;
  const Tensor x = zeros({2, 3, 1}, Device("sim:0")).requires_grad_();
  const Tensor y = x.squeeze(2).t().unsqueeze(0).permute({1, 2, 0});
  const Tensor gradient = ones(y.sizes(), Device("sim:0"));
  const std::size_t before = memory_allocated(x.device());
  const auto found = autograd::grad({y}, {x}, {gradient});
  EXPECT_EQ(memory_allocated(x.device()), before);
  EXPECT_EQ(found[0].data_ptr(), gradient.data_ptr());
}

TEST(ViewsGradient, GoesBackThroughPinnedMemory) {
  test::AttachedCard card;
  const Tensor x = gradcheck_values({3}, 7).requires_grad_();
  const Tensor y = x.pin_memory();
  EXPECT_EQ(y.grad_fn(), "PinMemoryBackward0");
  y.backward(ones({3}, kF64));
  EXPECT_EQ(test::gradcheck::values_of(x.grad()), (std::vector<double>{1, 1, 1}));
}

}  // namespace
}  // namespace labrig
