// Copies and arithmetic, done in the type of the output.
#include "ops/elementwise_kernels.hpp"

#include "ops/map.hpp"

namespace labrig::kernels {
namespace {

// --- operations ----------------------------------------------------------------------------------------------------

struct Add {
  template <class V>
  V operator()(V a, V b) const {
    if constexpr (std::is_same_v<V, std::int64_t>)
      return wrapping_add(a, b);
    else
      return a + b;
  }
};
struct Sub {
  template <class V>
  V operator()(V a, V b) const {
    if constexpr (std::is_same_v<V, std::int64_t>)
      return wrapping_sub(a, b);
    else
      return a - b;
  }
};
struct Mul {
  template <class V>
  V operator()(V a, V b) const {
    if constexpr (std::is_same_v<V, std::int64_t>)
      return wrapping_mul(a, b);
    else
      return a * b;
  }
};
// Floating point only (the schema says so); integers divide by nothing here.
struct Div {
  template <class V>
  V operator()(V a, V b) const {
    if constexpr (std::is_same_v<V, std::int64_t>)
      return b == 0 ? 0 : b == -1 ? wrapping_sub(0, a) : a / b;
    else
      return a / b;
  }
};

}  // namespace

// --- kernels -------------------------------------------------------------------------------------------------------

void convert_row(void* to, Dtype to_dtype, std::int64_t to_stride, const void* from, Dtype from_dtype,
                 std::int64_t from_stride, std::int64_t count) {
  dispatch(to_dtype, [&]<class To>() {
    dispatch(from_dtype, [&]<class From>() {
      convert_row(static_cast<To*>(to), to_stride, static_cast<const From*>(from), from_stride, count);
    });
  });
}

void fill(const KernelCall& call) {
  const Operand& out = call.operands[0];
  dispatch(out.dtype, [&]<class T>() {
    const T value = store<T>(scalar_as<T>(scalar_value(call.scalars[0])));
    Walk<1>({&out}).rows([&](const auto& first, const auto& strides, std::int64_t count) {
      T* to = reinterpret_cast<T*>(first[0]);
      if (strides[0] == 1)
        std::fill_n(to, count, value);
      else
        for (std::int64_t i = 0; i < count; ++i) to[i * strides[0]] = value;
    });
  });
}

void copy(const KernelCall& call) {
  const Operand &out = call.operands[0], &a = call.operands[1];
  Walk<2>({&out, &a}).rows([&](const auto& first, const auto& strides, std::int64_t count) {
    convert_row(first[0], out.dtype, strides[0], first[1], a.dtype, strides[1], count);
  });
}

template <class Op>
static void binary_of(const KernelCall& call, Op op) {
  dispatch(call.operands[0].dtype, [&]<class T>() { map<T, 2>(call, op); });
}

void binary(const KernelCall& call) {
  switch (call.kernel) {
    case Kernel::add:
      return binary_of(call, Add{});
    case Kernel::sub:
      return binary_of(call, Sub{});
    case Kernel::mul:
      return binary_of(call, Mul{});
    default:
      return binary_of(call, Div{});
  }
}

template <class Op>
static void with_scalar_of(const KernelCall& call, Op op) {
  dispatch(call.operands[0].dtype, [&]<class T>() {
    const Arithmetic<T> scalar = scalar_as<T>(scalar_value(call.scalars[0]));
    map<T, 1>(call, [op, scalar](Arithmetic<T> a) { return op(a, scalar); });
  });
}

void with_scalar(const KernelCall& call) {
  switch (call.kernel) {
    case Kernel::add_scalar:
      return with_scalar_of(call, Add{});
    case Kernel::sub_scalar:
      return with_scalar_of(call, Sub{});
    case Kernel::mul_scalar:
      return with_scalar_of(call, Mul{});
    default:
      return with_scalar_of(call, Div{});
  }
}

void masked_fill(const KernelCall& call) {
  dispatch(call.operands[0].dtype, [&]<class T>() {
    const Arithmetic<T> value = scalar_as<T>(scalar_value(call.scalars[0]));
    map<T, 2>(call, [value](auto x, auto masked) { return masked != 0 ? value : x; });
  });
}

void where(const KernelCall& call) {
  dispatch(call.operands[0].dtype,
           [&]<class T>() { map<T, 3>(call, [](auto condition, auto a, auto b) { return condition != 0 ? a : b; }); });
}

void arange(const KernelCall& call) {
  const Operand& out = call.operands[0];
  dispatch(out.dtype, [&]<class T>() {
    T* to = static_cast<T*>(out.data);
    for (std::int64_t i = 0; i < out.sizes[0]; ++i) to[i * out.strides[0]] = convert<T>(i);
  });
}

}  // namespace labrig::kernels
