// Matrix products on the host (matmul, bmm, linear): OpenBLAS for f32 and f64; 16-bit floats are multiplied as f32 and
// rounded once. Operands that BLAS cannot read where they lie (no dimension with stride 1) are packed first.
#include <vector>

#include "blas.hpp"
#include "kernels.hpp"
#include "ops/elementwise_kernels.hpp"
#include "ops/plain/kernels.hpp"
#include "ops/plain/matrix.hpp"
#include "ops/strided.hpp"

namespace labrig::cpu {
namespace {

using kernels::matrix_of;

// to <- from, converted.
void copy(const Operand& to, const Operand& from) {
  KernelCall call;
  call.push(to);
  call.push(from);
  kernels::copy(call);
}

template <class T>
Operand packed(const Operand& like, T* data) {
  Operand operand = like;
  operand.data = data;
  operand.dtype = dtype_of<T>;
  operand.strides = Layout::contiguous(like.sizes).strides;
  return operand;
}

// A matrix of type T for BLAS: the operand itself, or its values packed into `room`.
template <class T>
Matrix<const T> readable(const Operand& operand, std::vector<T>& room) {
  const std::int64_t rows = operand.sizes[0], columns = operand.sizes[1];
  if (operand.dtype == dtype_of<T>) {
    const auto* data = static_cast<const T*>(operand.data);
    if (operand.strides[1] == 1 && operand.strides[0] >= columns) return {data, operand.strides[0], false};
    if (operand.strides[0] == 1 && operand.strides[1] >= rows) return {data, operand.strides[1], true};
  }
  room.resize(static_cast<std::size_t>(rows * columns));
  copy(packed(operand, room.data()), operand);
  return {room.data(), columns, false};
}

template <class T>
void add_bias(T* sums, std::int64_t leading, const Operand& out, const Operand& bias) {
  std::vector<T> row(static_cast<std::size_t>(out.sizes[1]));
  copy(packed(bias, row.data()), bias);
  for (std::int64_t i = 0; i < out.sizes[0]; ++i) {
    for (std::size_t j = 0; j < row.size(); ++j) sums[static_cast<std::size_t>(i * leading) + j] += row[j];
  }
}

// out <- a b + bias; false, and nothing done, without OpenBLAS.
template <class T>
bool multiply(const Operand& out, const Operand& a, const Operand& b, const Operand* bias) {
  const std::int64_t m = out.sizes[0], n = out.sizes[1], k = a.sizes[1];
  std::vector<T> a_room, b_room, out_room;
  const bool in_place = out.dtype == dtype_of<T> && out.strides[1] == 1 && out.strides[0] >= n;
  if (!in_place) out_room.resize(static_cast<std::size_t>(m * n));
  T* const result = in_place ? static_cast<T*>(out.data) : out_room.data();
  const std::int64_t leading = in_place ? out.strides[0] : n;
  if (!gemm(m, n, k, readable(a, a_room), readable(b, b_room), Matrix<T>{result, leading, false})) return false;
  if (bias) add_bias(result, leading, out, *bias);
  if (!in_place) copy(out, packed(out, result));
  return true;
}

bool multiply(const Operand& out, const Operand& a, const Operand& b, const Operand* bias = nullptr) {
  if (out.dtype == Dtype::f64) return multiply<double>(out, a, b, bias);
  return multiply<float>(out, a, b, bias);
}

bool multiply_batch(const KernelCall& call) {
  const Operand &out = call.operands[0], &a = call.operands[1], &b = call.operands[2];
  for (std::int64_t i = 0; i < out.sizes[0]; ++i) {
    if (!multiply(matrix_of(out, i), matrix_of(a, i), matrix_of(b, i))) return false;
  }
  return true;
}

bool multiply_call(const KernelCall& call) {
  const Operand &out = call.operands[0], &a = call.operands[1], &b = call.operands[2];
  if (call.kernel == Kernel::bmm) return multiply_batch(call);
  if (call.kernel == Kernel::matmul) return multiply(out, a, b);
  const Operand& bias = call.operands[3];
  return multiply(out, a, kernels::transposed(b), is_absent(bias) ? nullptr : &bias);
}

}  // namespace

// Without OpenBLAS, and for sums of nothing, which it does not take: plain loops.
void matmul(const KernelCall& call) {
  const Dims& a = call.operands[1].sizes;
  if (a[a.count() - 1] == 0 || !multiply_call(call)) kernels::run(call);
}

}  // namespace labrig::cpu
