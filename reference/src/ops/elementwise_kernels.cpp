// Arithmetic is done in the type of the output. Inputs of another type are converted to it first, a piece of a row at a
// time; where types agree and rows are contiguous, the loops are plain enough for the compiler to vectorise.
#include "ops/elementwise_kernels.hpp"

#include <algorithm>
#include <cstring>

#include "ops/strided.hpp"

namespace labrig::kernels {
namespace {

// --- conversion ----------------------------------------------------------------------------------------------------

template <class To, class From>
void convert_row(To* to, std::int64_t to_stride, const From* from, std::int64_t from_stride, std::int64_t count) {
  if (to_stride == 1 && from_stride == 1) {
    if constexpr (std::is_same_v<To, From>) {
      std::memmove(to, from, static_cast<std::size_t>(count) * sizeof(To));
    } else {
#pragma GCC ivdep
      for (std::int64_t i = 0; i < count; ++i) to[i] = convert<To>(from[i]);
    }
    return;
  }
  for (std::int64_t i = 0; i < count; ++i) to[i * to_stride] = convert<To>(from[i * from_stride]);
}

// The same for types that are known only now.
void convert_row(void* to, Dtype to_dtype, std::int64_t to_stride, const void* from, Dtype from_dtype,
                 std::int64_t from_stride, std::int64_t count) {
  dispatch(to_dtype, [&]<class To>() {
    dispatch(from_dtype, [&]<class From>() {
      convert_row(static_cast<To*>(to), to_stride, static_cast<const From*>(from), from_stride, count);
    });
  });
}

// A row of any type as elements of type T: in place where it has that type already, else converted piece by piece.
template <class T>
class RowReader {
 public:
  static constexpr std::int64_t kPiece = 512;

  // `to_dtype` is the dtype of T.
  RowReader(const std::byte* row, std::int64_t stride, Dtype dtype, Dtype to_dtype)
      : row_(row), stride_(stride), dtype_(dtype), to_dtype_(to_dtype) {}

  // Elements [start, start + count); `stride` receives their distance.
  const T* piece(std::int64_t start, std::int64_t count, std::int64_t& stride) {
    if (dtype_ == to_dtype_) {
      stride = stride_;
      return reinterpret_cast<const T*>(row_) + start * stride_;
    }
    const std::int64_t needed = stride_ == 0 ? 1 : count;
    const std::byte* from = row_ + start * stride_ * static_cast<std::int64_t>(element_bytes(dtype_));
    convert_row(buffer_, to_dtype_, 1, from, dtype_, stride_, needed);
    stride = stride_ == 0 ? 0 : 1;
    return buffer_;
  }

 private:
  const std::byte* row_;
  std::int64_t stride_;
  Dtype dtype_, to_dtype_;
  T buffer_[kPiece];
};

// --- loops ---------------------------------------------------------------------------------------------------------

// out[i] = op(a[i]). An input may be the output itself, element by element.
template <class T, class Op>
void unary_row(T* out, std::int64_t out_stride, const T* a, std::int64_t a_stride, std::int64_t count, Op op) {
  if (out_stride == 1 && a_stride == 1) {
#pragma GCC ivdep
    for (std::int64_t i = 0; i < count; ++i) out[i] = store<T>(op(load(a[i])));
    return;
  }
  for (std::int64_t i = 0; i < count; ++i) out[i * out_stride] = store<T>(op(load(a[i * a_stride])));
}

// out[i] = op(a[i], b[i]).
template <class T, class Op>
void binary_row(T* out, std::int64_t out_stride, const T* a, std::int64_t a_stride, const T* b, std::int64_t b_stride,
                std::int64_t count, Op op) {
  if (out_stride == 1 && a_stride == 1 && b_stride == 1) {
#pragma GCC ivdep
    for (std::int64_t i = 0; i < count; ++i) out[i] = store<T>(op(load(a[i]), load(b[i])));
  } else if (out_stride == 1 && a_stride == 1 && b_stride == 0) {
    const auto value = load(*b);
#pragma GCC ivdep
    for (std::int64_t i = 0; i < count; ++i) out[i] = store<T>(op(load(a[i]), value));
  } else if (out_stride == 1 && a_stride == 0 && b_stride == 1) {
    const auto value = load(*a);
#pragma GCC ivdep
    for (std::int64_t i = 0; i < count; ++i) out[i] = store<T>(op(value, load(b[i])));
  } else {
    for (std::int64_t i = 0; i < count; ++i) {
      out[i * out_stride] = store<T>(op(load(a[i * a_stride]), load(b[i * b_stride])));
    }
  }
}

template <class T, class Op>
void run_unary(const KernelCall& call, Op op) {
  const Operand &out = call.operands[0], &a = call.operands[1];
  Walk<2>({&out, &a}).rows([&](const auto& first, const auto& strides, std::int64_t count) {
    RowReader<T> reader(first[1], strides[1], a.dtype, out.dtype);
    const std::int64_t most = a.dtype == out.dtype ? count : RowReader<T>::kPiece;
    for (std::int64_t start = 0; start < count; start += most) {
      const std::int64_t n = std::min(most, count - start);
      std::int64_t stride = 0;
      const T* values = reader.piece(start, n, stride);
      unary_row(reinterpret_cast<T*>(first[0]) + start * strides[0], strides[0], values, stride, n, op);
    }
  });
}

template <class T, class Op>
void run_binary(const KernelCall& call, Op op) {
  const Operand &out = call.operands[0], &a = call.operands[1], &b = call.operands[2];
  const bool same = a.dtype == out.dtype && b.dtype == out.dtype;
  Walk<3>({&out, &a, &b}).rows([&](const auto& first, const auto& strides, std::int64_t count) {
    RowReader<T> a_reader(first[1], strides[1], a.dtype, out.dtype);
    RowReader<T> b_reader(first[2], strides[2], b.dtype, out.dtype);
    const std::int64_t most = same ? count : RowReader<T>::kPiece;
    for (std::int64_t start = 0; start < count; start += most) {
      const std::int64_t n = std::min(most, count - start);
      std::int64_t a_stride = 0, b_stride = 0;
      const T* a_values = a_reader.piece(start, n, a_stride);
      const T* b_values = b_reader.piece(start, n, b_stride);
      binary_row(reinterpret_cast<T*>(first[0]) + start * strides[0], strides[0], a_values, a_stride, b_values,
                 b_stride, n, op);
    }
  });
}

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
  dispatch(call.operands[0].dtype, [&]<class T>() { run_binary<T>(call, op); });
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
    run_unary<T>(call, [op, scalar](Arithmetic<T> a) { return op(a, scalar); });
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

void relu(const KernelCall& call) {
  dispatch(call.operands[0].dtype,
           [&]<class T>() { run_unary<T>(call, [](Arithmetic<T> x) { return x < 0 ? Arithmetic<T>{0} : x; }); });
}

void neg(const KernelCall& call) {
  dispatch(call.operands[0].dtype, [&]<class T>() {
    run_unary<T>(call, [](Arithmetic<T> x) {
      if constexpr (is_float_element<T>)
        return -x;
      else
        return wrapping_sub(0, x);
    });
  });
}

void masked_fill(const KernelCall& call) {
  const Operand &out = call.operands[0], &x = call.operands[1], &mask = call.operands[2];
  dispatch(out.dtype, [&]<class T>() {
    const T value = store<T>(scalar_as<T>(scalar_value(call.scalars[0])));
    Walk<3>({&out, &x, &mask}).rows([&](const auto& first, const auto& strides, std::int64_t count) {
      RowReader<T> reader(first[1], strides[1], x.dtype, out.dtype);
      T* to = reinterpret_cast<T*>(first[0]);
      const std::byte* hidden = first[2];
      for (std::int64_t start = 0; start < count; start += RowReader<T>::kPiece) {
        const std::int64_t n = std::min(RowReader<T>::kPiece, count - start);
        std::int64_t stride = 0;
        const T* values = reader.piece(start, n, stride);
        for (std::int64_t i = 0; i < n; ++i) {
          const bool masked = hidden[(start + i) * strides[2]] != std::byte{0};
          to[(start + i) * strides[0]] = masked ? value : values[i * stride];
        }
      }
    });
  });
}

void arange(const KernelCall& call) {
  const Operand& out = call.operands[0];
  dispatch(out.dtype, [&]<class T>() {
    T* to = static_cast<T*>(out.data);
    for (std::int64_t i = 0; i < out.sizes[0]; ++i) to[i * out.strides[0]] = convert<T>(i);
  });
}

}  // namespace labrig::kernels
