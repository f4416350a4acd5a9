// Convolution: values against the sum that defines it, on both halves of the host (OpenBLAS and plain loops), gradients
// against differences, and what PyTorch refuses.
#include <gtest/gtest.h>

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

struct Steps {
  Dims stride, padding;
};

// The definition, element by element.
std::vector<double> convolved(const Tensor& x, const Tensor& weight, const Tensor& bias, const Steps& steps) {
  const std::vector<double> in = values(x), w = values(weight), b = values(bias);
  const auto at = [](const Dims& sizes, std::int64_t i, std::int64_t j, std::int64_t k, std::int64_t l) {
    return static_cast<std::size_t>(((i * sizes[1] + j) * sizes[2] + k) * sizes[3] + l);
  };
  const auto length = [&](int d) {
    return (x.size(2 + d) + 2 * steps.padding[d] - weight.size(2 + d)) / steps.stride[d] + 1;
  };
  std::vector<double> out;
  for (std::int64_t n = 0; n < x.size(0); ++n) {
    for (std::int64_t o = 0; o < weight.size(0); ++o) {
      for (std::int64_t i = 0; i < length(0) * length(1); ++i) {
        double sum = b[static_cast<std::size_t>(o)];
        for (std::int64_t c = 0; c < x.size(1); ++c) {
          for (std::int64_t tap = 0; tap < weight.size(2) * weight.size(3); ++tap) {
            const std::int64_t ky = tap / weight.size(3), kx = tap % weight.size(3);
            const std::int64_t row = i / length(1) * steps.stride[0] + ky - steps.padding[0];
            const std::int64_t column = i % length(1) * steps.stride[1] + kx - steps.padding[1];
            if (row < 0 || row >= x.size(2) || column < 0 || column >= x.size(3)) continue;
            sum += in[at(x.sizes(), n, c, row, column)] * w[at(weight.sizes(), o, c, ky, kx)];
          }
        }
        out.push_back(sum);
      }
    }
  }
  return out;
}

const Steps kSteps[] = {{{1, 1}, {0, 0}}, {{1, 1}, {1, 1}}, {{2, 1}, {0, 2}}, {{3, 2}, {2, 1}}};

TEST(Conv2d, IsTheSumThatDefinesItOnHostAndCard) {
  AttachedCard card;  // carries kernels out as plain loops
  const Tensor x = gradcheck_values({2, 3, 6, 5}, 1), weight = gradcheck_values({4, 3, 3, 2}, 2);
  const Tensor bias = gradcheck_values({4}, 3);
  for (const Steps& s : kSteps) {
    const std::vector<double> expected = convolved(x, weight, bias, s);
    for (const char* device : {"cpu", "sim:0"}) {
      const Tensor out = conv2d(x.to(device), weight.to(device), bias.to(device), s.stride, s.padding);
      const std::vector<double> found = values(out);
      ASSERT_EQ(found.size(), expected.size());
      for (std::size_t i = 0; i < found.size(); ++i) EXPECT_NEAR(found[i], expected[i], 1e-12) << device << " " << i;
    }
  }
}

TEST(Conv2d, IsTheSameInPiecesOfScratchMemory) {
  // 27 x 72 x 72 columns of f64 are more than one piece of scratch memory holds.
  const Tensor x = gradcheck_values({6, 3, 72, 72}, 1), weight = gradcheck_values({2, 3, 3, 3}, 2);
  const Tensor bias = gradcheck_values({2}, 3);
  const std::vector<double> expected = convolved(x, weight, bias, kSteps[1]);
  const std::vector<double> found = values(conv2d(x, weight, bias, {1, 1}, {1, 1}));
  ASSERT_EQ(found.size(), expected.size());
  for (std::size_t i = 0; i < found.size(); ++i) ASSERT_NEAR(found[i], expected[i], 1e-12) << i;
}

TEST(Conv2d, GradientsAgreeBetweenHostAndCardForManyPositions) {
  AttachedCard card;
  const Tensor x = gradcheck_values({6, 3, 72, 72}, 1), weight = gradcheck_values({2, 3, 3, 3}, 2);
  const Tensor gradient = gradcheck_values({6, 2, 36, 36}, 3);
  std::vector<std::vector<double>> found;
  for (const char* device : {"cpu", "sim:0"}) {
    const Tensor a = x.to(device).detach().requires_grad_(), w = weight.to(device).detach().requires_grad_();
    conv2d(a, w, {}, {2, 2}, {1, 1}).backward(gradient.to(device));
    for (const Tensor& leaf : {a, w}) found.push_back(values(leaf.grad()));
  }
  for (std::size_t which : {0u, 1u}) {
    for (std::size_t i = 0; i < found[which].size(); ++i) ASSERT_NEAR(found[which][i], found[which + 2][i], 1e-9);
  }
}

TEST(Conv2d, HasTheGradientsThatDifferencesSayOnHostAndCard) {
  AttachedCard card;
  for (const Steps& s : kSteps) {
    const auto layer = [&](const Tensors& x) { return conv2d(x[0], x[1], x[2], s.stride, s.padding); };
    for (const char* device : {"cpu", "sim:0"}) {
      const Tensors inputs{gradcheck_values({2, 2, 4, 3}, 1).to(device), gradcheck_values({3, 2, 2, 3}, 2).to(device),
                           gradcheck_values({3}, 3).to(device)};
      EXPECT_TRUE(gradients_match(layer, inputs)) << device << s.stride.str() << s.padding.str();
    }
  }
}

TEST(Conv2d, TakesOperandsOfAnyLayoutAndEmptyOnes) {
  AttachedCard card;
  const auto layer = [](const Tensors& x) { return conv2d(x[0], x[1], {}, {1, 2}, {1, 0}); };
  for (const char* device : {"cpu", "sim:0"}) {
    const Tensor x = gradcheck_values({2, 4, 6, 2}, 1).to(device).permute({0, 3, 1, 2}).slice(3, 0, 6, 2);
    const Tensor weight = gradcheck_values({2, 3, 2, 2}, 2).to(device).transpose(0, 1).transpose(0, 1);
    EXPECT_TRUE(gradients_match(layer, {x, weight.narrow(1, 1, 2)})) << device;
    EXPECT_TRUE(gradients_match(layer, {x.narrow(0, 0, 0), weight.narrow(1, 1, 2)})) << device;
    EXPECT_EQ(values(conv2d(ones({1, 0, 2, 2}, Device(device)), ones({1, 0, 2, 2}, Device(device)),
                            full({1}, 3, Device(device)))),
              std::vector<double>{3});
  }
  EXPECT_EQ(conv2d(ones({2, 5, 5}), ones({3, 2, 3, 3})).sizes(), Dims({3, 3, 3}));
}

TEST(Conv2d, RoundsHalfTypesOnce) {
  AttachedCard card;
  const Tensor x = gradcheck_values({1, 2, 5, 5}, 1).to(kF16), weight = gradcheck_values({2, 2, 3, 3}, 2).to(kF16);
  const Tensor bias = gradcheck_values({2}, 3).to(kF16);
  const std::vector<double> exact = convolved(x, weight, bias, kSteps[0]);
  for (const char* device : {"cpu", "sim:0"}) {
    const std::vector<double> found = values(conv2d(x.to(device), weight.to(device), bias.to(device)));
    for (std::size_t i = 0; i < exact.size(); ++i) {
      EXPECT_NEAR(found[i], exact[i], 1e-3 * std::max(1.0, std::fabs(exact[i]))) << device;
    }
  }
}

TEST(Conv2d, RefusesWithPyTorchsTexts) {
  AttachedCard card;
  const Tensor x = ones({1, 3, 5, 5}), weight = ones({4, 3, 3, 3}), bias = ones({4});
  expect_error("shape-mismatch",
               "Given groups=1, weight of size [4, 3, 3, 3], expected input[1, 4, 5, 5] to have 3 channels, but got 4 "
               "channels instead",
               [&] { conv2d(ones({1, 4, 5, 5}), weight); });
  expect_error("shape-mismatch",
               "Calculated padded input size per channel: (2 x 4). Kernel size: (3 x 3). Kernel size can't be greater "
               "than actual input size",
               [&] { conv2d(ones({1, 3, 2, 2}), weight, {}, {1, 1}, {0, 1}); });
  expect_error("shape-mismatch",
               "Given weight of size [4, 3, 3, 3], expected bias to be 1-dimensional with 4 elements, but got bias of "
               "size [3] instead",
               [&] { conv2d(x, weight, ones({3})); });
  expect_error("shape-mismatch",
               "Expected 3D (unbatched) or 4D (batched) input to conv2d, but got input of size: [3, 5]",
               [&] { conv2d(ones({3, 5}), weight); });
  expect_error("invalid-shape", "non-positive stride is not supported", [&] { conv2d(x, weight, bias, {0, 1}); });
  expect_error("invalid-shape", "negative padding is not supported", [&] { conv2d(x, weight, bias, {1, 1}, {0, -1}); });
  expect_error("device-mismatch",
               "Input type (torch.sim.FloatTensor) and weight type (torch.FloatTensor) should be the same",
               [&] { conv2d(x.to("sim:0"), weight); });
  expect_error("dtype-mismatch", "Input type (torch.FloatTensor) and weight type (torch.HalfTensor) should be the same",
               [&] { conv2d(x, weight.to(kF16)); });
  expect_error("dtype-mismatch", "Input type (float) and bias type (c10::Half) should be the same",
               [&] { conv2d(x, weight, bias.to(kF16)); });
  EXPECT_EQ(error_of([&] { conv2d({}, weight); }).code(), "undefined-tensor");
}

}  // namespace
}  // namespace labrig
