// Which function carries out which kernel.
#include "launch.hpp"

#include "check.hpp"

namespace labrig::cuda {
namespace {

using Family = void (*)(const KernelCall& call, const LaunchContext& context);

Family family_of(Kernel kernel) {
  switch (kernel) {
    case Kernel::fill:
      return launch_fill;
    case Kernel::arange:
      return launch_arange;
    case Kernel::uniform:
    case Kernel::normal:
    case Kernel::random_integers:
      return launch_random;
    case Kernel::copy:
      return launch_copy;
    case Kernel::add:
    case Kernel::sub:
    case Kernel::mul:
    case Kernel::div:
      return launch_binary;
    case Kernel::add_scalar:
    case Kernel::sub_scalar:
    case Kernel::mul_scalar:
    case Kernel::div_scalar:
    case Kernel::relu:
    case Kernel::neg:
    case Kernel::clamp:
      return launch_with_scalar;
    case Kernel::masked_fill:
    case Kernel::where:
      return launch_choose;
    case Kernel::eq:
    case Kernel::ne:
    case Kernel::lt:
    case Kernel::le:
    case Kernel::gt:
    case Kernel::ge:
      return launch_compare;
    case Kernel::exp:
    case Kernel::log:
    case Kernel::sqrt:
    case Kernel::tanh:
    case Kernel::sigmoid:
    case Kernel::gelu:
      return launch_unary;
    case Kernel::relu_backward:
    case Kernel::sqrt_backward:
    case Kernel::tanh_backward:
    case Kernel::sigmoid_backward:
    case Kernel::gelu_backward:
    case Kernel::clamp_backward:
      return launch_unary_backward;
    case Kernel::dropout:
      return launch_dropout;
    case Kernel::mse_loss:
    case Kernel::bce_with_logits:
      return launch_loss;
    case Kernel::mse_loss_backward:
    case Kernel::bce_with_logits_backward:
      return launch_loss_backward;
    case Kernel::matmul:
    case Kernel::bmm:
    case Kernel::linear:
      return launch_matmul;
    case Kernel::conv2d:
    case Kernel::conv2d_input_backward:
    case Kernel::conv2d_weight_backward:
      return launch_conv2d;
    case Kernel::sum:
    case Kernel::mean:
    case Kernel::max:
    case Kernel::norm:
    case Kernel::argmax:
      return launch_reduce;
    case Kernel::softmax:
    case Kernel::log_softmax:
    case Kernel::softmax_backward:
    case Kernel::log_softmax_backward:
      return launch_softmax;
    case Kernel::layer_norm:
    case Kernel::layer_norm_backward:
    case Kernel::layer_norm_weight_backward:
      return launch_layer_norm;
    case Kernel::batch_norm:
    case Kernel::batch_norm_eval:
    case Kernel::batch_norm_backward:
      return launch_batch_norm;
    case Kernel::nll_loss:
    case Kernel::nll_loss_backward:
      return launch_nll_loss;
    case Kernel::index:
      return launch_index;
    case Kernel::index_add:
      return launch_index_add;
    case Kernel::sgd_step:
      return launch_sgd_step;
    case Kernel::adam_step:
      return launch_adam_step;
    case Kernel::amp_unscale:
      return launch_amp_unscale;
    case Kernel::amp_update_scale:
      return launch_amp_update_scale;
  }
  return nullptr;
}

}  // namespace

void launch(const KernelCall& call, const LaunchContext& context) {
  family_of(call.kernel)(call, context);
  check_launch(name_of(call.kernel));
}

}  // namespace labrig::cuda
