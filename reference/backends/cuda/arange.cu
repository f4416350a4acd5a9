// arange: out <- 0, 1, 2, … Nothing is read, so nothing crosses the bus.
#include "elements.cuh"

namespace labrig::cuda {
namespace {

template <class T>
__global__ void arange_kernel(T* out, std::int64_t count, std::int64_t stride) {
  for (std::int64_t i = first_index(); i < count; i += index_step()) out[i * stride] = cast_to<T>(i);
}

}  // namespace

void launch_arange(const KernelCall& call, const LaunchContext& context) {
  const Operand& out = call.operands[0];
  const std::int64_t count = out.sizes[0];
  if (count == 0) return;
  dispatch(out.dtype, [&]<class T>() {
    arange_kernel<T>
        <<<blocks_for(count, context), kThreads, 0, context.stream>>>(static_cast<T*>(out.data), count, out.strides[0]);
  });
}

}  // namespace labrig::cuda
