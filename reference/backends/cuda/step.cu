// The steps of training, in place: SGD, Adam, and what the gradient scaler does. Nothing is fetched to the host, also
// not whether a gradient was finite. Read next: ops/step_formulas.hpp, for what one element goes through.
#include "elements.cuh"
#include "ops/step_formulas.hpp"

namespace labrig::cuda {
namespace {

// A value as it would be after a store.
template <class T>
struct Rounded {
  using V = Arithmetic<T>;
  __device__ V operator()(V value) const { return widen(narrow<T>(value)); }
};

template <class T>
__device__ T& element(const Elements& elements, int view, const std::int64_t* offsets) {
  return static_cast<T*>(elements.view[view].data)[offsets[view]];
}

// Operands: parameter, gradient, buffer (or none).
template <class T>
__global__ void sgd_step_kernel(const __grid_constant__ Elements elements, const formula::Sgd<Arithmetic<T>> step) {
  const bool has_buffer = elements.views == 3;
  for (std::int64_t i = first_index(); i < elements.count; i += index_step()) {
    std::int64_t offsets[3];
    find_offsets_of<3>(elements, i, offsets);
    Arithmetic<T> parameter = widen(element<T>(elements, 0, offsets)), sum = 0;
    if (has_buffer) sum = widen(element<T>(elements, 2, offsets));
    step(parameter, has_buffer ? &sum : nullptr, widen(element<T>(elements, 1, offsets)), Rounded<T>{});
    element<T>(elements, 0, offsets) = narrow<T>(parameter);
    if (has_buffer) element<T>(elements, 2, offsets) = narrow<T>(sum);
  }
}

// Operands: parameter, average, average of squares, gradient.
template <class T>
__global__ void adam_step_kernel(const __grid_constant__ Elements elements, const formula::Adam<Arithmetic<T>> step) {
  for (std::int64_t i = first_index(); i < elements.count; i += index_step()) {
    std::int64_t offsets[4];
    find_offsets_of<4>(elements, i, offsets);
    Arithmetic<T> parameter = widen(element<T>(elements, 0, offsets)),
                  average = widen(element<T>(elements, 1, offsets)), squares = widen(element<T>(elements, 2, offsets));
    step(parameter, average, squares, widen(element<T>(elements, 3, offsets)), Rounded<T>{});
    element<T>(elements, 0, offsets) = narrow<T>(parameter);
    element<T>(elements, 1, offsets) = narrow<T>(average);
    element<T>(elements, 2, offsets) = narrow<T>(squares);
  }
}

// Every thread that finds something writes the same 1.
template <class T>
__global__ void amp_unscale_kernel(const __grid_constant__ Elements elements, float* found_inf, const float* inverse) {
  const float factor = *inverse;
  for (std::int64_t i = first_index(); i < elements.count; i += index_step()) {
    std::int64_t offsets[1];
    find_offsets_of<1>(elements, i, offsets);
    const Arithmetic<T> value = widen(element<T>(elements, 0, offsets));
    if (!isfinite(value)) *found_inf = 1;
    if (factor != 1) element<T>(elements, 0, offsets) = narrow<T>(value * factor);
  }
}

__global__ void amp_update_scale_kernel(float* scale, std::int32_t* tracker, const float* found_inf, double growth,
                                        double backoff, std::int64_t interval) {
  if (*found_inf != 0) {
    *scale = static_cast<float>(*scale * backoff);
    *tracker = 0;
    return;
  }
  const std::int64_t good_steps = std::int64_t{*tracker} + 1;
  if (good_steps != interval) {
    *tracker = static_cast<std::int32_t>(good_steps);
    return;
  }
  const auto grown = static_cast<float>(*scale * growth);
  if (isfinite(grown)) *scale = grown;
  *tracker = 0;
}

}  // namespace

void launch_sgd_step(const KernelCall& call, const LaunchContext& context) {
  const Operand &parameter = call.operands[0], &buffer = call.operands[1], &gradient = call.operands[2];
  const Elements elements =
      is_absent(buffer) ? elements_of({&parameter, &gradient}) : elements_of({&parameter, &gradient, &buffer});
  if (elements.count == 0) return;
  dispatch_float(parameter.dtype, [&]<class T>() {
    sgd_step_kernel<T><<<blocks_for(elements.count, context), kThreads, 0, context.stream>>>(
        elements, formula::Sgd<Arithmetic<T>>::of(call));
  });
}

void launch_adam_step(const KernelCall& call, const LaunchContext& context) {
  const Elements elements = elements_of(call);
  if (elements.count == 0) return;
  dispatch_float(call.operands[0].dtype, [&]<class T>() {
    adam_step_kernel<T><<<blocks_for(elements.count, context), kThreads, 0, context.stream>>>(
        elements, formula::Adam<Arithmetic<T>>::of(call));
  });
}

void launch_amp_unscale(const KernelCall& call, const LaunchContext& context) {
  const Elements elements = elements_of({&call.operands[0]});
  if (elements.count == 0) return;
  dispatch_float(call.operands[0].dtype, [&]<class T>() {
    amp_unscale_kernel<T><<<blocks_for(elements.count, context), kThreads, 0, context.stream>>>(
        elements, static_cast<float*>(call.operands[1].data), static_cast<const float*>(call.operands[2].data));
  });
}

void launch_amp_update_scale(const KernelCall& call, const LaunchContext& context) {
  amp_update_scale_kernel<<<1, 1, 0, context.stream>>>(
      static_cast<float*>(call.operands[0].data), static_cast<std::int32_t*>(call.operands[1].data),
      static_cast<const float*>(call.operands[2].data), scalar_value(call.scalars[0]), scalar_value(call.scalars[1]),
      static_cast<std::int64_t>(call.scalars[2]));
}

}  // namespace labrig::cuda
