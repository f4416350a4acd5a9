// copy: out <- a, strided, broadcast, converted. Where nothing changes but the place, the copy engine's own path is
// taken.
#include "elements.cuh"

namespace labrig::cuda {
namespace {

template <class T>
__global__ void copy_kernel(const __grid_constant__ Elements elements) {
  T* out = static_cast<T*>(elements.view[0].data);
  for (std::int64_t i = first_index(); i < elements.count; i += index_step()) {
    std::int64_t offsets[2];
    find_offsets_of<2>(elements, i, offsets);
    out[offsets[0]] = load_as<T>(elements.view[1], offsets[1]);
  }
}

bool moves_bytes_only(const Elements& elements) {
  const View &out = elements.view[0], &in = elements.view[1];
  if (out.dtype != in.dtype || elements.dims > 1) return false;
  return elements.dims == 0 || (out.strides[0] == 1 && in.strides[0] == 1);
}

}  // namespace

void launch_copy(const KernelCall& call, const LaunchContext& context) {
  const Elements elements = elements_of(call);
  if (elements.count == 0) return;
  if (moves_bytes_only(elements)) {
    const std::size_t bytes = static_cast<std::size_t>(elements.count) * element_bytes(elements.view[0].dtype);
    check(
        cudaMemcpyAsync(elements.view[0].data, elements.view[1].data, bytes, cudaMemcpyDeviceToDevice, context.stream),
        "cudaMemcpyAsync");
    return;
  }
  dispatch(elements.view[0].dtype, [&]<class T>() {
    copy_kernel<T><<<blocks_for(elements.count, context), kThreads, 0, context.stream>>>(elements);
  });
}

}  // namespace labrig::cuda
