// What one element goes through in a step of SGD or Adam, once for every backend. V is float or double; `rounded` gives
// a V as it would be after a store in the type of the parameter: PyTorch rounds after each operation that it carries
// out by itself, and an eps of 1e-8 is 0 in f16. "a + alpha b" is one operation there, and rounds once. Read next:
// plain/step.cpp (the loops around them).
#pragma once

#include <cmath>

#include "ops/kernel.hpp"
#include "ops/portable.hpp"

namespace labrig::formula {

template <class V>
struct Sgd {
  V lr, momentum, undamped, decay;
  bool nesterov, first;

  static Sgd of(const KernelCall& call) {
    const auto scalar = [&](std::size_t i) { return scalar_value(call.scalars[i]); };
    return {static_cast<V>(scalar(0)), static_cast<V>(scalar(1)), static_cast<V>(1 - scalar(2)),
            static_cast<V>(scalar(3)), call.scalars[4] != 0,      call.scalars[5] != 0};
  }

  // `buffer` is null without momentum.
  template <class Rounded>
  LABRIG_HD void operator()(V& parameter, V* buffer, V gradient, Rounded rounded) const {
    V change = gradient;
    if (decay != 0) change = rounded(fused(decay, parameter, change));
    if (buffer != nullptr) {
      *buffer = first ? change : rounded(fused(undamped, change, rounded(*buffer * momentum)));
      change = nesterov ? rounded(fused(momentum, *buffer, change)) : *buffer;
    }
    parameter = fused(-lr, change, parameter);
  }
};

template <class V>
struct Adam {
  V decay, weight1, keep2, weight2, eps, correction, rate;
  bool decoupled;

  static Adam of(const KernelCall& call) {
    const auto scalar = [&](std::size_t i) { return scalar_value(call.scalars[i]); };
    const double lr = scalar(0), beta1 = scalar(1), beta2 = scalar(2);
    const auto number = static_cast<double>(static_cast<std::int64_t>(call.scalars[6]));
    const bool decoupled = call.scalars[5] != 0;
    return {static_cast<V>(decoupled ? 1 - lr * scalar(4) : scalar(4)),
            static_cast<V>(1 - beta1),
            static_cast<V>(beta2),
            static_cast<V>(1 - beta2),
            static_cast<V>(scalar(3)),
            static_cast<V>(std::sqrt(1 - std::pow(beta2, number))),
            static_cast<V>(lr / (1 - std::pow(beta1, number))),
            decoupled};
  }

  template <class Rounded>
  LABRIG_HD void operator()(V& parameter, V& average, V& squares, V gradient, Rounded rounded) const {
    V slope = gradient;
    if (decoupled)
      parameter = rounded(parameter * decay);
    else if (decay != 0)
      slope = rounded(slope + decay * parameter);
    average = rounded(between(average, slope, weight1));
    squares = rounded(rounded(squares * keep2) + weight2 * slope * slope);
    const V root = rounded(rounded(rounded(std::sqrt(squares)) / correction) + eps);
    parameter -= rate * average / root;
  }

  // torch.lerp: from whichever end is nearer.
  LABRIG_HD static V between(V from, V to, V weight) {
    return weight < V(0.5) ? from + weight * (to - from) : to - (to - from) * (1 - weight);
  }
};

}  // namespace labrig::formula
