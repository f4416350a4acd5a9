// Functions of one floating point operand, and their gradients, which take dy and either the result y or the input x
// (ops/kernel.hpp says which). 16-bit types are computed in float and rounded once.
#include "map.cuh"

namespace labrig::cuda {
namespace {

template <class V>
struct Constants {
  static constexpr V kInverseRoot2 = V(0.70710678118654752440);
  static constexpr V kInverseRoot2Pi = V(0.39894228040143267794);  // 1 / sqrt(2 pi)
  static constexpr V kRoot2OverPi = V(0.79788456080286535588);     // sqrt(2 / pi)
  static constexpr V kCubic = V(0.044715);
};

template <class V>
__device__ V gelu(V x, bool through_tanh) {
  using C = Constants<V>;
  if (!through_tanh) return V(0.5) * x * (V(1) + erf(x * C::kInverseRoot2));
  return V(0.5) * x * (V(1) + tanh(C::kRoot2OverPi * (x + C::kCubic * x * x * x)));
}

// d gelu / dx
template <class V>
__device__ V gelu_slope(V x, bool through_tanh) {
  using C = Constants<V>;
  if (!through_tanh) {
    const V below = V(0.5) * (V(1) + erf(x * C::kInverseRoot2));
    return below + x * C::kInverseRoot2Pi * exp(V(-0.5) * x * x);
  }
  const V t = tanh(C::kRoot2OverPi * (x + C::kCubic * x * x * x));
  const V inner = C::kRoot2OverPi * (V(1) + V(3) * C::kCubic * x * x);
  return V(0.5) * (V(1) + t) + V(0.5) * x * (V(1) - t * t) * inner;
}

template <class V>
struct Function {
  Kernel operation;
  bool through_tanh;
  __device__ V operator()(const V (&in)[1]) const {
    const V x = in[0];
    switch (operation) {
      case Kernel::exp:
        return exp(x);
      case Kernel::log:
        return log(x);
      case Kernel::sqrt:
        return sqrt(x);
      case Kernel::tanh:
        return tanh(x);
      case Kernel::sigmoid:
        return V(1) / (V(1) + exp(-x));
      default:
        return gelu(x, through_tanh);
    }
  }
};

template <class V>
struct Slope {
  Kernel operation;
  bool through_tanh;
  V low, high;
  __device__ V operator()(const V (&in)[2]) const {
    const V dy = in[0], v = in[1];  // v: x or y
    switch (operation) {
      case Kernel::relu_backward:
        return v <= 0 ? V(0) : dy;
      case Kernel::sqrt_backward:
        return dy / (V(2) * v);
      case Kernel::tanh_backward:
        return dy * (V(1) - v * v);
      case Kernel::sigmoid_backward:
        return dy * (V(1) - v) * v;
      case Kernel::clamp_backward:
        return v >= low && v <= high ? dy : V(0);
      default:
        return dy * gelu_slope(v, through_tanh);
    }
  }
};

}  // namespace

void launch_unary(const KernelCall& call, const LaunchContext& context) {
  const Elements elements = elements_of(call);
  if (elements.count == 0) return;
  const bool through_tanh = call.scalars[0] != 0;
  dispatch_float(call.operands[0].dtype, [&]<class T>() {
    launch_map<T, 1>(elements, Function<Arithmetic<T>>{call.kernel, through_tanh}, context);
  });
}

void launch_unary_backward(const KernelCall& call, const LaunchContext& context) {
  const Elements elements = elements_of(call);
  if (elements.count == 0) return;
  const double first = scalar_value(call.scalars[0]), second = scalar_value(call.scalars[1]);
  dispatch_float(call.operands[0].dtype, [&]<class T>() {
    using V = Arithmetic<T>;
    const Slope<V> slope{call.kernel, call.scalars[0] != 0, kernels::scalar_as<T>(first), kernels::scalar_as<T>(second)};
    launch_map<T, 2>(elements, slope, context);
  });
}

}  // namespace labrig::cuda
