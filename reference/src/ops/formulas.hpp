// What the functions of one element compute, and their gradients, once for every backend. V is float or double (clamp
// and relu: also std::int64_t); 16-bit values come in as float. The forms are those of PyTorch, so that the values
// agree to rounding. Read next: plain/unary.cpp (the loops around them).
#pragma once

#include <cmath>

#include "ops/portable.hpp"

namespace labrig::formula {

// NaN stays NaN.
template <class V>
LABRIG_HD V relu(V x) {
  return x < 0 ? V{0} : x;
}
// y: the result of the forward.
template <class V>
LABRIG_HD V relu_backward(V dy, V y) {
  return y <= 0 ? V{0} : dy;
}

template <class V>
LABRIG_HD V sqrt_backward(V dy, V y) {
  return dy / (2 * y);
}
template <class V>
LABRIG_HD V tanh_backward(V dy, V y) {
  return dy * (1 - y * y);
}

template <class V>
LABRIG_HD V sigmoid(V x) {
  return 1 / (1 + std::exp(-x));
}
template <class V>
LABRIG_HD V sigmoid_backward(V dy, V y) {
  return dy * (1 - y) * y;
}

// high where low > high; NaN where x or a bound is NaN.
template <class V>
LABRIG_HD V clamp(V x, V low, V high) {
  if (x < low || low != low) x = low;
  if (x > high || high != high) x = high;
  return x;
}
template <class V>
LABRIG_HD V clamp_backward(V dy, V x, V low, V high) {
  return x >= low && x <= high ? dy : V{0};
}

inline constexpr double kSqrtHalf = 0.70710678118654752440;      // 1 / sqrt(2)
inline constexpr double kSqrtTwoByPi = 0.79788456080286535588;   // sqrt(2 / pi)
inline constexpr double kSqrtHalfByPi = 0.39894228040143267794;  // 1 / sqrt(2 pi)
inline constexpr double kGeluCubic = 0.044715;

// x Phi(x), Phi the distribution function of the normal distribution.
template <class V>
LABRIG_HD V gelu(V x) {
  return x * V(0.5) * (1 + std::erf(x * V(kSqrtHalf)));
}
template <class V>
LABRIG_HD V gelu_backward(V dy, V x) {
  const V distribution = V(0.5) * (1 + std::erf(x * V(kSqrtHalf)));
  const V density = std::exp(V(-0.5) * x * x) * V(kSqrtHalfByPi);
  return dy * (distribution + x * density);
}
// The same with Phi(x) taken as (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))) / 2.
template <class V>
LABRIG_HD V gelu_tanh(V x) {
  const V inner = V(kSqrtTwoByPi) * (x + V(kGeluCubic) * x * x * x);
  return V(0.5) * x * (1 + std::tanh(inner));
}
template <class V>
LABRIG_HD V gelu_tanh_backward(V dy, V x) {
  const V inner = V(kSqrtTwoByPi) * (x + V(kGeluCubic) * x * x * x);
  const V slope = V(kSqrtTwoByPi) * (1 + 3 * V(kGeluCubic) * x * x);
  const V tanh = std::tanh(inner);
  return dy * (V(0.5) * (1 + tanh) + V(0.5) * x * (1 - tanh * tanh) * slope);
}

template <class V>
LABRIG_HD V squared_error(V x, V target) {
  return (x - target) * (x - target);
}
template <class V>
LABRIG_HD V squared_error_backward(V dy, V x, V target, V factor) {
  return 2 * factor * (x - target) * dy;
}

// -(t log s + (1 - t) log(1 - s)) with s = sigmoid(x), without overflow for any x: log s = min(x, 0) - log(1 + e^-|x|).
template <class V>
LABRIG_HD V bce_with_logits(V x, V target) {
  const V log_sigmoid = (x < 0 ? x : V{0}) - std::log1p(std::exp(-std::abs(x)));
  return (1 - target) * x - log_sigmoid;
}
template <class V>
LABRIG_HD V bce_with_logits_backward(V dy, V x, V target, V factor) {
  return factor * (sigmoid(x) - target) * dy;
}

}  // namespace labrig::formula
