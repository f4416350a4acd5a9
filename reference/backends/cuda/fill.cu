// fill: out <- scalar. What is written is a pattern of bits, so one kernel per element width serves all types.
#include "elements.cuh"

namespace labrig::cuda {
namespace {

template <class Bits>
__global__ void fill_kernel(const __grid_constant__ Elements elements, Bits bits) {
  Bits* out = static_cast<Bits*>(elements.view[0].data);
  for (std::int64_t i = first_index(); i < elements.count; i += index_step()) {
    std::int64_t offsets[1];
    find_offsets_of<1>(elements, i, offsets);
    out[offsets[0]] = bits;
  }
}

// Whole packs by all threads, then the rest (less than a pack) by the first ones.
template <class Bits>
__global__ void fill_plain_kernel(Bits* out, std::int64_t count, Bits bits) {
  Pack<Bits> pack;
#pragma unroll
  for (Bits& element : pack.element) element = bits;
  const std::int64_t packs = count / Pack<Bits>::kCount;
  for (std::int64_t i = first_index(); i < packs; i += index_step()) reinterpret_cast<Pack<Bits>*>(out)[i] = pack;
  for (std::int64_t i = packs * Pack<Bits>::kCount + first_index(); i < count; i += index_step()) out[i] = bits;
}

template <class Bits>
void launch_bits(const Elements& elements, Bits bits, const LaunchContext& context) {
  if (is_plain(elements)) {
    const unsigned blocks = blocks_for(elements.count / Pack<Bits>::kCount, context);
    fill_plain_kernel<Bits>
        <<<blocks, kThreads, 0, context.stream>>>(static_cast<Bits*>(elements.view[0].data), elements.count, bits);
  } else {
    fill_kernel<Bits><<<blocks_for(elements.count, context), kThreads, 0, context.stream>>>(elements, bits);
  }
}

}  // namespace

void launch_fill(const KernelCall& call, const LaunchContext& context) {
  const Elements elements = elements_of(call);
  if (elements.count == 0) return;
  const double scalar = scalar_value(call.scalars[0]);
  dispatch(call.operands[0].dtype, [&]<class T>() {
    using Bits =
        std::conditional_t<sizeof(T) == 1, std::uint8_t,
                           std::conditional_t<sizeof(T) == 2, std::uint16_t,
                                              std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>>>;
    const T value = kernels::store<T>(kernels::scalar_as<T>(scalar));
    launch_bits<Bits>(elements, std::bit_cast<Bits>(value), context);
  });
}

void require_code_for_current_device() {
  cudaFuncAttributes attributes{};
  check(cudaFuncGetAttributes(&attributes, fill_kernel<std::uint32_t>), "cudaFuncGetAttributes");
}

}  // namespace labrig::cuda
