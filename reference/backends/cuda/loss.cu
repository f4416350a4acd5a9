// The losses that compare element by element, mse_loss and bce_with_logits, and their gradients: dx <- dy, input,
// target, times a factor (1 / count for the mean), all in one pass.
#include "map.cuh"

namespace labrig::cuda {
namespace {

template <class V>
struct Loss {
  Kernel operation;
  __device__ V operator()(const V (&in)[2]) const {
    const V x = in[0], target = in[1];
    if (operation == Kernel::mse_loss) return (x - target) * (x - target);
    // -t log s(x) - (1 - t) log(1 - s(x)) with s the sigmoid, in a form that does not overflow.
    const V positive = x > 0 ? x : V(0);
    return positive - x * target + log1p(exp(-fabs(x)));
  }
};

template <class V>
struct LossSlope {
  Kernel operation;
  V factor;
  __device__ V operator()(const V (&in)[3]) const {
    const V dy = in[0], x = in[1], target = in[2];
    if (operation == Kernel::mse_loss_backward) return factor * V(2) * (x - target) * dy;
    return factor * (V(1) / (V(1) + exp(-x)) - target) * dy;
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
    launch_map<T, 3>(elements, LossSlope<Arithmetic<T>>{call.kernel, factor}, context);
  });
}

}  // namespace labrig::cuda
