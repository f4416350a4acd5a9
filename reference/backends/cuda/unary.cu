// Functions of one floating point operand, and their gradients, which take dy and either the result y or the input x
// (ops/kernel.hpp says which). 16-bit types are computed in float and rounded once. Read next: ops/formulas.hpp, for
// what they compute.
#include "map.cuh"
#include "ops/formulas.hpp"

namespace labrig::cuda {
namespace {

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
        return formula::sigmoid(x);
      default:
        return through_tanh ? formula::gelu_tanh(x) : formula::gelu(x);
    }
  }
};

template <class V>
struct Gradient {
  Kernel operation;
  bool through_tanh;
  V low, high;
  __device__ V operator()(const V (&in)[2]) const {
    const V dy = in[0], v = in[1];  // v: x or y
    switch (operation) {
      case Kernel::relu_backward:
        return formula::relu_backward(dy, v);
      case Kernel::sqrt_backward:
        return formula::sqrt_backward(dy, v);
      case Kernel::tanh_backward:
        return formula::tanh_backward(dy, v);
      case Kernel::sigmoid_backward:
        return formula::sigmoid_backward(dy, v);
      case Kernel::clamp_backward:
        return formula::clamp_backward(dy, v, low, high);
      default:
        return through_tanh ? formula::gelu_tanh_backward(dy, v) : formula::gelu_backward(dy, v);
    }
  }
};

}  // namespace

void launch_unary(const KernelCall& call, const LaunchContext& context) {
  const Elements elements = elements_of(call);
  if (elements.count == 0) return;
  dispatch_float(call.operands[0].dtype, [&]<class T>() {
    launch_map<T, 1>(elements, Function<Arithmetic<T>>{call.kernel, call.scalars[0] != 0}, context);
  });
}

void launch_unary_backward(const KernelCall& call, const LaunchContext& context) {
  const Elements elements = elements_of(call);
  if (elements.count == 0) return;
  const double low = scalar_value(call.scalars[0]), high = scalar_value(call.scalars[1]);
  dispatch_float(call.operands[0].dtype, [&]<class T>() {
    const Gradient<Arithmetic<T>> gradient{call.kernel, call.scalars[0] != 0, kernels::scalar_as<T>(low),
                                           kernels::scalar_as<T>(high)};
    launch_map<T, 2>(elements, gradient, context);
  });
}

}  // namespace labrig::cuda
