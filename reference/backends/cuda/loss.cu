// The losses that compare element by element, mse_loss and bce_with_logits, and their gradients: dx <- dy, input,
// target, times a factor (1 / count for the mean), all in one pass. Read next: ops/formulas.hpp.
#include "map.cuh"
#include "ops/formulas.hpp"

namespace labrig::cuda {
namespace {

template <class V>
struct Loss {
  Kernel operation;
  __device__ V operator()(const V (&in)[2]) const {
    return operation == Kernel::mse_loss ? formula::squared_error(in[0], in[1])
                                         : formula::bce_with_logits(in[0], in[1]);
  }
};

template <class V>
struct LossGradient {
  Kernel operation;
  V factor;
  __device__ V operator()(const V (&in)[3]) const {
    if (operation == Kernel::mse_loss_backward) return formula::squared_error_backward(in[0], in[1], in[2], factor);
    return formula::bce_with_logits_backward(in[0], in[1], in[2], factor);
  }
};

}  // namespace

void launch_loss(const KernelCall& call, const LaunchContext& context) {
  const Elements elements = elements_of(call);
  if (elements.count == 0) return;
  dispatch_float(call.operands[0].dtype,
                 [&]<class T>() { launch_map<T, 2>(elements, Loss<Arithmetic<T>>{call.kernel}, context); });
}

void launch_loss_backward(const KernelCall& call, const LaunchContext& context) {
  const Elements elements = elements_of(call);
  if (elements.count == 0) return;
  dispatch_float(call.operands[0].dtype, [&]<class T>() {
    const Arithmetic<T> factor = kernels::scalar_as<T>(scalar_value(call.scalars[0]));
    launch_map<T, 3>(elements, LossGradient<Arithmetic<T>>{call.kernel, factor}, context);
  });
}

}  // namespace labrig::cuda
