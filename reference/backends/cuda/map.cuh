// The loop that all elementwise kernels share: out[i] = f(inputs at i). `f` is a small struct that holds what the
// launch decides (which operation, which numbers) and computes in the arithmetic type of the output. There are two
// forms: a plain one, which moves packs of 16 bytes through operands of one type without gaps, and a general one for
// everything else, which converts, broadcasts and follows strides.
//
//   struct Half { template <class V> __device__ V operator()(const V (&in)[1]) const { return in[0] / 2; } };
//   launch_map<float, 1>(elements, Half{}, context);
#pragma once

#include "elements.cuh"

namespace labrig::cuda {

template <class T, int kInputs, class F>
__global__ void map_kernel(const __grid_constant__ Elements elements, const F f) {
  T* out = static_cast<T*>(elements.view[0].data);
  for (std::int64_t i = first_index(); i < elements.count; i += index_step()) {
    std::int64_t offsets[kInputs + 1];
    find_offsets_of<kInputs + 1>(elements, i, offsets);
    Arithmetic<T> in[kInputs];
#pragma unroll
    for (int k = 0; k < kInputs; ++k) in[k] = widen(load_as<T>(elements.view[k + 1], offsets[k + 1]));
    out[offsets[0]] = narrow<T>(f(in));
  }
}

template <class T, int kInputs>
struct PlainInputs {
  const T* data[kInputs];
};

// An input may be the output itself: a thread reads its pack before it writes it, and no other thread touches it.
template <class T, int kInputs, class F>
__global__ void map_plain_kernel(T* out, const PlainInputs<T, kInputs> inputs, std::int64_t count, const F f) {
  Arithmetic<T> in[kInputs];
  const std::int64_t packs = count / Pack<T>::kCount;
  for (std::int64_t i = first_index(); i < packs; i += index_step()) {
    Pack<T> from[kInputs], result;
#pragma unroll
    for (int k = 0; k < kInputs; ++k) from[k] = reinterpret_cast<const Pack<T>*>(inputs.data[k])[i];
#pragma unroll
    for (int e = 0; e < Pack<T>::kCount; ++e) {
#pragma unroll
      for (int k = 0; k < kInputs; ++k) in[k] = widen(from[k].element[e]);
      result.element[e] = narrow<T>(f(in));
    }
    reinterpret_cast<Pack<T>*>(out)[i] = result;
  }
  for (std::int64_t i = packs * Pack<T>::kCount + first_index(); i < count; i += index_step()) {
#pragma unroll
    for (int k = 0; k < kInputs; ++k) in[k] = widen(inputs.data[k][i]);
    out[i] = narrow<T>(f(in));
  }
}

template <class T>
T* data_of(const Elements& elements, int view) {
  return static_cast<T*>(elements.view[view].data);
}

template <class T, int kInputs, class F>
void launch_map(const Elements& elements, const F& f, const LaunchContext& context) {
  if (is_plain(elements)) {
    PlainInputs<T, kInputs> inputs;
    for (int k = 0; k < kInputs; ++k) inputs.data[k] = data_of<T>(elements, k + 1);
    map_plain_kernel<T, kInputs>
        <<<blocks_for(elements.count / Pack<T>::kCount, context), kThreads, 0, context.stream>>>(
            data_of<T>(elements, 0), inputs, elements.count, f);
  } else {
    map_kernel<T, kInputs><<<blocks_for(elements.count, context), kThreads, 0, context.stream>>>(elements, f);
  }
}

}  // namespace labrig::cuda
