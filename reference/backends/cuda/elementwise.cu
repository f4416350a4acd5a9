// Arithmetic, relu, neg and masked_fill. Each has a plain kernel, which moves packs of 16 bytes through operands of one
// type without gaps, and a general one for everything else. Arithmetic is done in the type of the output; which
// operation it is is a number that all threads share, because memory and not arithmetic is what these kernels wait for.
#include "elements.cuh"

namespace labrig::cuda {
namespace {

// --- operations ----------------------------------------------------------------------------------------------------

// Integers wrap: they are added as unsigned numbers. Div is for floating point only (the schema says so).
template <class V>
__device__ V apply(Kernel operation, V a, V b) {
  using U = std::conditional_t<std::is_same_v<V, std::int64_t>, std::uint64_t, V>;
  const U x = static_cast<U>(a), y = static_cast<U>(b);
  switch (operation) {
    case Kernel::add:
    case Kernel::add_scalar:
      return static_cast<V>(x + y);
    case Kernel::sub:
    case Kernel::sub_scalar:
      return static_cast<V>(x - y);
    case Kernel::mul:
    case Kernel::mul_scalar:
      return static_cast<V>(x * y);
    case Kernel::relu:
      return a < 0 ? V{0} : a;  // NaN is not below 0 and stays
    case Kernel::neg:
      if constexpr (std::is_same_v<U, std::uint64_t>)
        return static_cast<V>(U{0} - x);
      else
        return -a;
    default:
      break;
  }
  if constexpr (std::is_same_v<U, std::uint64_t>)
    return 0;
  else
    return a / b;
}

// --- general kernels -----------------------------------------------------------------------------------------------

template <class T>
__global__ void binary_kernel(const __grid_constant__ Elements elements, Kernel operation) {
  T* out = static_cast<T*>(elements.view[0].data);
  for (std::int64_t i = first_index(); i < elements.count; i += index_step()) {
    std::int64_t offsets[3];
    find_offsets_of<3>(elements, i, offsets);
    const Arithmetic<T> a = widen(load_as<T>(elements.view[1], offsets[1]));
    const Arithmetic<T> b = widen(load_as<T>(elements.view[2], offsets[2]));
    out[offsets[0]] = narrow<T>(apply(operation, a, b));
  }
}

template <class T>
__global__ void unary_kernel(const __grid_constant__ Elements elements, Kernel operation, Arithmetic<T> scalar) {
  T* out = static_cast<T*>(elements.view[0].data);
  for (std::int64_t i = first_index(); i < elements.count; i += index_step()) {
    std::int64_t offsets[2];
    find_offsets_of<2>(elements, i, offsets);
    out[offsets[0]] = narrow<T>(apply(operation, widen(load_as<T>(elements.view[1], offsets[1])), scalar));
  }
}

// Operands: out, x, mask.
template <class T>
__global__ void masked_fill_kernel(const __grid_constant__ Elements elements, T value) {
  T* out = static_cast<T*>(elements.view[0].data);
  const Bool8* mask = static_cast<const Bool8*>(elements.view[2].data);
  for (std::int64_t i = first_index(); i < elements.count; i += index_step()) {
    std::int64_t offsets[3];
    find_offsets_of<3>(elements, i, offsets);
    out[offsets[0]] = mask[offsets[2]].byte != 0 ? value : load_as<T>(elements.view[1], offsets[1]);
  }
}

// --- plain kernels -------------------------------------------------------------------------------------------------

// An input may be the output itself: a thread reads its pack before it writes it, and no other thread touches it.
template <class T>
__global__ void binary_plain_kernel(T* out, const T* a, const T* b, std::int64_t count, Kernel operation) {
  const std::int64_t packs = count / Pack<T>::kCount;
  for (std::int64_t i = first_index(); i < packs; i += index_step()) {
    const Pack<T> x = reinterpret_cast<const Pack<T>*>(a)[i];
    const Pack<T> y = reinterpret_cast<const Pack<T>*>(b)[i];
    Pack<T> result;
#pragma unroll
    for (int k = 0; k < Pack<T>::kCount; ++k)
      result.element[k] = narrow<T>(apply(operation, widen(x.element[k]), widen(y.element[k])));
    reinterpret_cast<Pack<T>*>(out)[i] = result;
  }
  for (std::int64_t i = packs * Pack<T>::kCount + first_index(); i < count; i += index_step())
    out[i] = narrow<T>(apply(operation, widen(a[i]), widen(b[i])));
}

template <class T>
__global__ void unary_plain_kernel(T* out, const T* a, std::int64_t count, Kernel operation, Arithmetic<T> scalar) {
  const std::int64_t packs = count / Pack<T>::kCount;
  for (std::int64_t i = first_index(); i < packs; i += index_step()) {
    const Pack<T> x = reinterpret_cast<const Pack<T>*>(a)[i];
    Pack<T> result;
#pragma unroll
    for (int k = 0; k < Pack<T>::kCount; ++k)
      result.element[k] = narrow<T>(apply(operation, widen(x.element[k]), scalar));
    reinterpret_cast<Pack<T>*>(out)[i] = result;
  }
  for (std::int64_t i = packs * Pack<T>::kCount + first_index(); i < count; i += index_step())
    out[i] = narrow<T>(apply(operation, widen(a[i]), scalar));
}

template <class T>
T* data_of(const Elements& elements, int view) {
  return static_cast<T*>(elements.view[view].data);
}

}  // namespace

// --- launches ------------------------------------------------------------------------------------------------------

void launch_binary(const KernelCall& call, const LaunchContext& context) {
  const Elements elements = elements_of(call);
  if (elements.count == 0) return;
  dispatch(call.operands[0].dtype, [&]<class T>() {
    if (is_plain(elements)) {
      binary_plain_kernel<T><<<blocks_for(elements.count / Pack<T>::kCount, context), kThreads, 0, context.stream>>>(
          data_of<T>(elements, 0), data_of<T>(elements, 1), data_of<T>(elements, 2), elements.count, call.kernel);
    } else {
      binary_kernel<T><<<blocks_for(elements.count, context), kThreads, 0, context.stream>>>(elements, call.kernel);
    }
  });
  check_launch("add, sub, mul or div");
}

void launch_unary(const KernelCall& call, const LaunchContext& context) {
  const Elements elements = elements_of(call);
  if (elements.count == 0) return;
  const double number = scalar_value(call.scalars[0]);  // not used by relu and neg
  dispatch(call.operands[0].dtype, [&]<class T>() {
    const Arithmetic<T> scalar = kernels::scalar_as<T>(number);
    if (is_plain(elements)) {
      unary_plain_kernel<T><<<blocks_for(elements.count / Pack<T>::kCount, context), kThreads, 0, context.stream>>>(
          data_of<T>(elements, 0), data_of<T>(elements, 1), elements.count, call.kernel, scalar);
    } else {
      unary_kernel<T>
          <<<blocks_for(elements.count, context), kThreads, 0, context.stream>>>(elements, call.kernel, scalar);
    }
  });
  check_launch("relu, neg, or an operation with a number");
}

void launch_masked_fill(const KernelCall& call, const LaunchContext& context) {
  const Elements elements = elements_of(call);
  if (elements.count == 0) return;
  const double number = scalar_value(call.scalars[0]);
  dispatch(call.operands[0].dtype, [&]<class T>() {
    const T value = kernels::store<T>(kernels::scalar_as<T>(number));
    masked_fill_kernel<T><<<blocks_for(elements.count, context), kThreads, 0, context.stream>>>(elements, value);
  });
  check_launch("masked_fill");
}

}  // namespace labrig::cuda
