// Are the gradients of a function right? backward() is compared with central differences of the function's values, in
// float64. Inputs may have any shape and layout (views with gaps, expanded, empty, 0-dim); keep away from kinks: at 0
// relu has no derivative that a difference could find.
//
//   EXPECT_TRUE(test::gradients_match([](const test::Tensors& x) { return mul(x[0], x[1]); }, {a, b}));
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "labrig/autograd.hpp"
#include "labrig/tensor.hpp"

namespace labrig::test {

using Tensors = std::vector<Tensor>;
using Function = std::function<Tensor(const Tensors& inputs)>;

// f64 values between -2 and 2, the same for the same seed; none of them closer to 0 than 0.1.
inline Tensor gradcheck_values(const Dims& sizes, std::uint32_t seed) {
  std::vector<double> values(static_cast<std::size_t>(sizes.product()));
  for (double& value : values) {
    seed = seed * 1664525 + 1013904223;
    const double step = (seed >> 8) / 16777216.0;  // [0, 1)
    value = (seed >> 4 & 1 ? 1 : -1) * (0.1 + 1.9 * step);
  }
  return tensor<double>(std::span<const double>(values), sizes);
}

namespace gradcheck {

inline std::vector<double> values_of(const Tensor& tensor) {
  const Tensor host = tensor.detach().cpu().to(kF64).contiguous();
  const auto data = host.data<const double>();
  return {data.begin(), data.end()};
}

// The function's output as one number: each element times a weight.
inline double weighted(const Tensor& out, const std::vector<double>& weights) {
  const std::vector<double> values = values_of(out);
  double sum = 0;
  for (std::size_t i = 0; i < values.size(); ++i) sum += values[i] * weights[i];
  return sum;
}

// The derivative of that number by every element of input `which`.
inline std::vector<double> differences(const Function& f, const Tensors& inputs, std::size_t which,
                                       const std::vector<double>& weights) {
  constexpr double kStep = 1e-6;
  const NoGradGuard guard;
  const std::vector<double> at = values_of(inputs[which]);
  const auto value_with = [&](std::size_t element, double change) {
    std::vector<double> moved = at;
    moved[element] += change;
    Tensors with = inputs;
    for (Tensor& input : with) input = is_floating_point(input.dtype()) ? input.detach().clone() : input;
    with[which] = tensor<double>(std::span<const double>(moved), inputs[which].sizes()).to(inputs[which].device());
    return weighted(f(with), weights);
  };
  std::vector<double> result(at.size());
  for (std::size_t i = 0; i < at.size(); ++i) result[i] = (value_with(i, kStep) - value_with(i, -kStep)) / (2 * kStep);
  return result;
}

// As backward() has them: of the inputs that are `asked` for, undefined where no gradient arrived. The incoming
// gradient has gaps between its elements when `strided`.
inline Tensors gradients(const Function& f, const Tensors& inputs, const std::vector<bool>& asked,
                         const std::vector<double>& weights, bool strided) {
  Tensors leaves = inputs;
  for (std::size_t i = 0; i < leaves.size(); ++i) {
    if (asked[i]) leaves[i] = inputs[i].detach().requires_grad_();
  }
  const Tensor out = f(leaves);
  const Tensor plain = tensor<double>(std::span<const double>(weights), out.sizes()).to(out.device());
  Tensor gradient = plain;
  if (strided && out.dim() < kMaxDims) {
    Dims wide = out.sizes();
    wide.push_back(2);
    gradient = plain.unsqueeze(-1).expand(wide).clone().select(-1, 1);
  }
  out.backward(gradient);
  for (Tensor& leaf : leaves) leaf = leaf.requires_grad() ? leaf.grad() : Tensor();
  return leaves;
}

inline testing::AssertionResult compare(const Tensor& found, const std::vector<double>& expected, std::size_t input,
                                        const Dims& sizes, const char* when) {
  const auto failure = [&] {
    return testing::AssertionFailure() << "gradient of input " << input << " of shape " << sizes.str() << " (" << when
                                       << "): ";
  };
  if (!found.defined()) {
    const bool zero = std::all_of(expected.begin(), expected.end(), [](double x) { return std::fabs(x) < 1e-7; });
    return zero ? testing::AssertionSuccess() : failure() << "none arrived";
  }
  if (found.sizes() != sizes) return failure() << "has shape " << found.sizes().str();
  const std::vector<double> values = values_of(found);
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (std::fabs(values[i] - expected[i]) <= 1e-6 + 1e-5 * std::fabs(expected[i])) continue;
    return failure() << "element " << i << " is " << values[i] << ", the differences say " << expected[i];
  }
  return testing::AssertionSuccess();
}

}  // namespace gradcheck

// Every floating point input must be f64. Each gradient is asked for with all others, alone, and from an incoming
// gradient with gaps.
inline testing::AssertionResult gradients_match(const Function& f, const Tensors& inputs) {
  std::vector<bool> all;
  for (const Tensor& input : inputs) {
    if (is_floating_point(input.dtype()) && input.dtype() != kF64)
      return testing::AssertionFailure() << "input of type " << name_of(input.dtype()) << ", not f64";
    all.push_back(input.dtype() == kF64);
  }
  Tensor out;
  {
    const NoGradGuard guard;
    out = f(inputs);
  }
  const std::vector<double> weights = gradcheck::values_of(gradcheck_values(out.sizes(), 77));
  const Tensors together = gradcheck::gradients(f, inputs, all, weights, false);
  const Tensors strided = gradcheck::gradients(f, inputs, all, weights, true);
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (!all[i]) continue;
    std::vector<bool> one(inputs.size());
    one[i] = true;
    const Tensors alone = gradcheck::gradients(f, inputs, one, weights, false);
    const std::vector<double> expected = gradcheck::differences(f, inputs, i, weights);
    const Dims sizes = inputs[i].sizes();
    for (const auto& [found, when] : {std::pair{together[i], "all wanted"}, std::pair{alone[i], "wanted alone"},
                                      std::pair{strided[i], "strided gradient"}}) {
      const auto result = gradcheck::compare(found, expected, i, sizes, when);
      if (!result) return result;
    }
  }
  return testing::AssertionSuccess();
}

}  // namespace labrig::test
