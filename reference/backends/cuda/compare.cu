// Comparisons: out (bool) <- a op b. Both sides are first converted to their promoted type, as PyTorch does: an i64
// beside an f16 is compared as an f16.
#include "elements.cuh"

namespace labrig::cuda {
namespace {

template <class V>
__device__ bool holds(Kernel operation, V a, V b) {
  switch (operation) {
    case Kernel::eq:
      return a == b;
    case Kernel::ne:
      return a != b;
    case Kernel::lt:
      return a < b;
    case Kernel::le:
      return a <= b;
    case Kernel::gt:
      return a > b;
    default:
      return a >= b;
  }
}

// T is the promoted type.
template <class T>
__global__ void compare_kernel(const __grid_constant__ Elements elements, Kernel operation) {
  Bool8* out = static_cast<Bool8*>(elements.view[0].data);
  for (std::int64_t i = first_index(); i < elements.count; i += index_step()) {
    std::int64_t offsets[3];
    find_offsets_of<3>(elements, i, offsets);
    const Arithmetic<T> a = widen(load_as<T>(elements.view[1], offsets[1]));
    const Arithmetic<T> b = widen(load_as<T>(elements.view[2], offsets[2]));
    out[offsets[0]] = Bool8{static_cast<std::uint8_t>(holds(operation, a, b))};
  }
}

}  // namespace

void launch_compare(const KernelCall& call, const LaunchContext& context) {
  const Elements elements = elements_of(call);
  if (elements.count == 0) return;
  dispatch(promote_types(call.operands[1].dtype, call.operands[2].dtype), [&]<class T>() {
    compare_kernel<T><<<blocks_for(elements.count, context), kThreads, 0, context.stream>>>(elements, call.kernel);
  });
}

}  // namespace labrig::cuda
