// Losses of single elements, before they are averaged or summed, and their gradients times a factor.
#include "ops/elementwise_kernels.hpp"
#include "ops/formulas.hpp"
#include "ops/map.hpp"

namespace labrig::kernels {
namespace {

template <class Op>
void each(const KernelCall& call, Op op) {
  dispatch_float(call.operands[0].dtype, [&]<class T>() { map<T, 2>(call, op); });
}

// op(dy, input, target, factor)
template <class Op>
void each_backward(const KernelCall& call, Op op) {
  dispatch_float(call.operands[0].dtype, [&]<class T>() {
    const auto factor = static_cast<Arithmetic<T>>(scalar_value(call.scalars[0]));
    map<T, 3>(call, [op, factor](auto dy, auto x, auto target) { return op(dy, x, target, factor); });
  });
}

}  // namespace

void loss(const KernelCall& call) {
  switch (call.kernel) {
    case Kernel::mse_loss:
      return each(call, [](auto x, auto target) { return formula::squared_error(x, target); });
    case Kernel::bce_with_logits:
      return each(call, [](auto x, auto target) { return formula::bce_with_logits(x, target); });
    case Kernel::mse_loss_backward:
      return each_backward(call, [](auto dy, auto x, auto target, auto factor) {
        return formula::squared_error_backward(dy, x, target, factor);
      });
    default:
      return each_backward(call, [](auto dy, auto x, auto target, auto factor) {
        return formula::bce_with_logits_backward(dy, x, target, factor);
      });
  }
}

}  // namespace labrig::kernels
