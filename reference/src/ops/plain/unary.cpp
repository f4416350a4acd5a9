// Functions of one element and their gradients. Read next: ops/formulas.hpp, for what they compute.
#include "ops/elementwise_kernels.hpp"
#include "ops/formulas.hpp"
#include "ops/map.hpp"

namespace labrig::kernels {
namespace {

template <std::size_t N, class Op>
void of_any(const KernelCall& call, Op op) {
  dispatch(call.operands[0].dtype, [&]<class T>() { map<T, N>(call, op); });
}
template <std::size_t N, class Op>
void of_floats(const KernelCall& call, Op op) {
  dispatch_float(call.operands[0].dtype, [&]<class T>() { map<T, N>(call, op); });
}

bool uses_tanh(const KernelCall& call) { return call.scalars[0] != 0; }

void clamp(const KernelCall& call) {
  dispatch(call.operands[0].dtype, [&]<class T>() {
    const Arithmetic<T> low = scalar_as<T>(scalar_value(call.scalars[0]));
    const Arithmetic<T> high = scalar_as<T>(scalar_value(call.scalars[1]));
    map<T, 1>(call, [low, high](auto x) { return formula::clamp(x, low, high); });
  });
}

void clamp_backward(const KernelCall& call) {
  dispatch_float(call.operands[0].dtype, [&]<class T>() {
    const Arithmetic<T> low = scalar_as<T>(scalar_value(call.scalars[0]));
    const Arithmetic<T> high = scalar_as<T>(scalar_value(call.scalars[1]));
    map<T, 2>(call, [low, high](auto dy, auto x) { return formula::clamp_backward(dy, x, low, high); });
  });
}

}  // namespace

void unary(const KernelCall& call) {
  switch (call.kernel) {
    case Kernel::relu:
      return of_any<1>(call, [](auto x) { return formula::relu(x); });
    case Kernel::neg:
      return of_any<1>(call, [](auto x) {
        if constexpr (std::is_same_v<decltype(x), std::int64_t>)
          return wrapping_sub(0, x);
        else
          return -x;
      });
    case Kernel::exp:
      return of_floats<1>(call, [](auto x) { return std::exp(x); });
    case Kernel::log:
      return of_floats<1>(call, [](auto x) { return std::log(x); });
    case Kernel::sqrt:
      return of_floats<1>(call, [](auto x) { return std::sqrt(x); });
    case Kernel::tanh:
      return of_floats<1>(call, [](auto x) { return std::tanh(x); });
    case Kernel::sigmoid:
      return of_floats<1>(call, [](auto x) { return formula::sigmoid(x); });
    case Kernel::gelu:
      if (uses_tanh(call)) return of_floats<1>(call, [](auto x) { return formula::gelu_tanh(x); });
      return of_floats<1>(call, [](auto x) { return formula::gelu(x); });
    default:
      return clamp(call);
  }
}

void unary_backward(const KernelCall& call) {
  switch (call.kernel) {
    case Kernel::relu_backward:
      return of_floats<2>(call, [](auto dy, auto y) { return formula::relu_backward(dy, y); });
    case Kernel::sqrt_backward:
      return of_floats<2>(call, [](auto dy, auto y) { return formula::sqrt_backward(dy, y); });
    case Kernel::tanh_backward:
      return of_floats<2>(call, [](auto dy, auto y) { return formula::tanh_backward(dy, y); });
    case Kernel::sigmoid_backward:
      return of_floats<2>(call, [](auto dy, auto y) { return formula::sigmoid_backward(dy, y); });
    case Kernel::gelu_backward:
      if (uses_tanh(call)) {
        return of_floats<2>(call, [](auto dy, auto x) { return formula::gelu_tanh_backward(dy, x); });
      }
      return of_floats<2>(call, [](auto dy, auto x) { return formula::gelu_backward(dy, x); });
    default:
      return clamp_backward(call);
  }
}

}  // namespace labrig::kernels
