// The loop around every elementwise kernel that runs on the host: map() applies a function of one, two or three
// elements along all rows. Inputs of another type than the function's are converted a piece of a row at a time; where
// types agree and rows are contiguous, the loops are plain enough for the compiler to vectorise.
// Read next: elementwise_kernels.cpp, plain/unary.cpp.
#pragma once

#include <algorithm>
#include <cstring>
#include <utility>

#include "ops/strided.hpp"

namespace labrig::kernels {

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

// The same for types that are known only now (elementwise_kernels.cpp).
void convert_row(void* to, Dtype to_dtype, std::int64_t to_stride, const void* from, Dtype from_dtype,
                 std::int64_t from_stride, std::int64_t count);

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

// --- rows ------------------------------------------------------------------------------------------------------------

template <class T, std::size_t N>
struct Rows {
  const T* first[N];
  std::int64_t stride[N];
};

// out[i] = op(a[i], …). An input may be the output itself, element by element.
template <class To, class T, class Op>
void map_row(To* out, std::int64_t out_stride, const Rows<T, 1>& in, std::int64_t count, Op op) {
  const T* a = in.first[0];
  if (out_stride == 1 && in.stride[0] == 1) {
#pragma GCC ivdep
    for (std::int64_t i = 0; i < count; ++i) out[i] = store<To>(op(load(a[i])));
    return;
  }
  for (std::int64_t i = 0; i < count; ++i) out[i * out_stride] = store<To>(op(load(a[i * in.stride[0]])));
}

template <class To, class T, class Op>
void map_row(To* out, std::int64_t out_stride, const Rows<T, 2>& in, std::int64_t count, Op op) {
  const T *a = in.first[0], *b = in.first[1];
  const std::int64_t a_stride = in.stride[0], b_stride = in.stride[1];
  if (out_stride == 1 && a_stride == 1 && b_stride == 1) {
#pragma GCC ivdep
    for (std::int64_t i = 0; i < count; ++i) out[i] = store<To>(op(load(a[i]), load(b[i])));
  } else if (out_stride == 1 && a_stride == 1 && b_stride == 0) {
    const auto value = load(*b);
#pragma GCC ivdep
    for (std::int64_t i = 0; i < count; ++i) out[i] = store<To>(op(load(a[i]), value));
  } else if (out_stride == 1 && a_stride == 0 && b_stride == 1) {
    const auto value = load(*a);
#pragma GCC ivdep
    for (std::int64_t i = 0; i < count; ++i) out[i] = store<To>(op(value, load(b[i])));
  } else {
    for (std::int64_t i = 0; i < count; ++i) {
      out[i * out_stride] = store<To>(op(load(a[i * a_stride]), load(b[i * b_stride])));
    }
  }
}

template <class To, class T, class Op>
void map_row(To* out, std::int64_t out_stride, const Rows<T, 3>& in, std::int64_t count, Op op) {
  for (std::int64_t i = 0; i < count; ++i) {
    out[i * out_stride] = store<To>(op(load(in.first[0][i * in.stride[0]]), load(in.first[1][i * in.stride[1]]),
                                       load(in.first[2][i * in.stride[2]])));
  }
}

// --- all rows ------------------------------------------------------------------------------------------------------

template <class To, class T, class Op, std::size_t... I>
void map_all(const KernelCall& call, Dtype dtype, Op op, std::index_sequence<I...>) {
  const bool same = ((call.operands[I + 1].dtype == dtype) && ...);
  Walk<sizeof...(I) + 1> walk({&call.operands[0], &call.operands[I + 1]...});
  walk.rows([&](const auto& first, const auto& strides, std::int64_t count) {
    RowReader<T> readers[] = {{first[I + 1], strides[I + 1], call.operands[I + 1].dtype, dtype}...};
    const std::int64_t most = same ? count : RowReader<T>::kPiece;
    for (std::int64_t start = 0; start < count; start += most) {
      const std::int64_t n = std::min(most, count - start);
      Rows<T, sizeof...(I)> rows;
      ((rows.first[I] = readers[I].piece(start, n, rows.stride[I])), ...);
      map_row(reinterpret_cast<To*>(first[0]) + start * strides[0], strides[0], rows, n, op);
    }
  });
}

// Operand 0, of elements To, <- op(operands 1 … N), read as elements T of type `dtype`; op takes and gives values of
// the arithmetic types.
template <class To, class T, std::size_t N, class Op>
void map(const KernelCall& call, Dtype dtype, Op op) {
  map_all<To, T>(call, dtype, op, std::make_index_sequence<N>{});
}
// The same in the type of the output.
template <class T, std::size_t N, class Op>
void map(const KernelCall& call, Op op) {
  map<T, T, N>(call, call.operands[0].dtype, op);
}

}  // namespace labrig::kernels
