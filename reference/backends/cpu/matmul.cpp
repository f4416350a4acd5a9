// Matrix product on the host: OpenBLAS for f32 and f64; 16-bit floats are multiplied as f32 and rounded once. Operands
// that BLAS cannot read where they lie (no dimension with stride 1) are packed first.
#include <vector>

#include "blas.hpp"
#include "kernels.hpp"
#include "ops/elementwise_kernels.hpp"
#include "ops/plain/kernels.hpp"
#include "ops/strided.hpp"

namespace labrig::cpu {
namespace {

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
  Operand packed = operand;
  packed.data = room.data();
  packed.dtype = dtype_of<T>;
  packed.strides = Layout::contiguous(operand.sizes).strides;
  KernelCall call;
  call.push(packed);
  call.push(operand);
  kernels::copy(call);
  return {room.data(), columns, false};
}

template <class T>
void multiply(const KernelCall& call) {
  const Operand &out = call.operands[0], &a = call.operands[1], &b = call.operands[2];
  const std::int64_t m = out.sizes[0], n = out.sizes[1], k = a.sizes[1];
  std::vector<T> a_room, b_room, out_room;
  const bool in_place = out.dtype == dtype_of<T> && out.strides[1] == 1 && out.strides[0] >= n;
  if (!in_place) out_room.resize(static_cast<std::size_t>(m * n));
  T* const result = in_place ? static_cast<T*>(out.data) : out_room.data();
  const std::int64_t leading = in_place ? out.strides[0] : n;
  if (!gemm(m, n, k, readable(a, a_room), readable(b, b_room), Matrix<T>{result, leading, false})) {
    return kernels::matmul(call);  // without OpenBLAS: plain loops, slower by far
  }
  if (in_place) return;
  Operand from = out;
  from.data = result;
  from.dtype = dtype_of<T>;
  from.strides = Layout::contiguous(out.sizes).strides;
  KernelCall back;
  back.push(out);
  back.push(from);
  kernels::copy(back);
}

}  // namespace

void matmul(const KernelCall& call) {
  const Operand& out = call.operands[0];
  if (call.operands[1].sizes[1] == 0) {  // a sum of nothing
    KernelCall zero;
    zero.push(out);
    zero.scalars[0] = scalar_bits(0);
    return kernels::fill(zero);
  }
  if (out.dtype == Dtype::f64) return multiply<double>(call);
  multiply<float>(call);
}

}  // namespace labrig::cpu
