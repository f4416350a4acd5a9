// Arithmetic, relu, neg, clamp, masked_fill and where: what is defined for integers too. Arithmetic is done in the type
// of the output; which operation it is is a number that all threads share, because memory and not arithmetic is what
// these kernels wait for. Read next: map.cuh (the loop), unary.cu (functions of floating point).
#include "map.cuh"
#include "ops/formulas.hpp"

namespace labrig::cuda {
namespace {

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
      return formula::relu(a);
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

struct Binary {
  Kernel operation;
  template <class V>
  __device__ V operator()(const V (&in)[2]) const {
    return apply(operation, in[0], in[1]);
  }
};

template <class V>
struct WithScalar {
  Kernel operation;
  V scalar, high;  // `high` for clamp alone
  __device__ V operator()(const V (&in)[1]) const {
    return operation == Kernel::clamp ? formula::clamp(in[0], scalar, high) : apply(operation, in[0], scalar);
  }
};

// Operands: out, a, mask (then b is a value) or out, mask, a, b.
template <class T>
__global__ void choose_kernel(const __grid_constant__ Elements elements, bool masked_fill, T value) {
  T* out = static_cast<T*>(elements.view[0].data);
  const int mask_view = masked_fill ? 2 : 1;
  const Bool8* mask = static_cast<const Bool8*>(elements.view[mask_view].data);
  for (std::int64_t i = first_index(); i < elements.count; i += index_step()) {
    std::int64_t offsets[4];
    find_offsets_of<4>(elements, i, offsets);
    const bool is_set = mask[offsets[mask_view]].byte != 0;
    const int taken = masked_fill ? 1 : is_set ? 2 : 3;
    out[offsets[0]] = masked_fill && is_set ? value : load_as<T>(elements.view[taken], offsets[taken]);
  }
}

}  // namespace

void launch_binary(const KernelCall& call, const LaunchContext& context) {
  const Elements elements = elements_of(call);
  if (elements.count == 0) return;
  dispatch(call.operands[0].dtype, [&]<class T>() { launch_map<T, 2>(elements, Binary{call.kernel}, context); });
}

void launch_with_scalar(const KernelCall& call, const LaunchContext& context) {
  const Elements elements = elements_of(call);
  if (elements.count == 0) return;
  dispatch(call.operands[0].dtype, [&]<class T>() {
    using V = Arithmetic<T>;
    const V scalar = kernels::scalar_as<T>(scalar_value(call.scalars[0]));  // not used by relu and neg
    const V high = kernels::scalar_as<T>(scalar_value(call.scalars[1]));
    launch_map<T, 1>(elements, WithScalar<V>{call.kernel, scalar, high}, context);
  });
}

void launch_choose(const KernelCall& call, const LaunchContext& context) {
  const Elements elements = elements_of(call);
  if (elements.count == 0) return;
  const bool masked_fill = call.kernel == Kernel::masked_fill;
  dispatch(call.operands[0].dtype, [&]<class T>() {
    const T value = kernels::store<T>(kernels::scalar_as<T>(scalar_value(call.scalars[0])));
    choose_kernel<T>
        <<<blocks_for(elements.count, context), kThreads, 0, context.stream>>>(elements, masked_fill, value);
  });
}

}  // namespace labrig::cuda
