// Which function carries out which kernel.
#include "launch.hpp"

namespace labrig::cuda {

void launch(const KernelCall& call, const LaunchContext& context) {
  switch (call.kernel) {
    case Kernel::fill:
      return launch_fill(call, context);
    case Kernel::copy:
      return launch_copy(call, context);
    case Kernel::add:
    case Kernel::sub:
    case Kernel::mul:
    case Kernel::div:
      return launch_binary(call, context);
    case Kernel::add_scalar:
    case Kernel::sub_scalar:
    case Kernel::mul_scalar:
    case Kernel::div_scalar:
    case Kernel::relu:
    case Kernel::neg:
      return launch_unary(call, context);
    case Kernel::masked_fill:
      return launch_masked_fill(call, context);
    case Kernel::matmul:
      return launch_matmul(call, context);
    case Kernel::sum:
    case Kernel::mean:
    case Kernel::max:
      return launch_reduce(call, context);
    case Kernel::arange:
      return launch_arange(call, context);
    default:  // TODO: goes when all kernels are there
      break;
  }
}

}  // namespace labrig::cuda
