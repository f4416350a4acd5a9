// Matrix products: one, a batch, and a layer's. Each output is the sum over k in ascending order, in float (double for
// f64) over 256 at a time, which are added up in double, so that long sums keep their digits; however the operands lie.
// A bias is added to the sum before it is rounded:
//
//   for a band of 8 columns:  panel <- b[:, band] as rows of 8           out[4 rows, 8 columns] in registers,
//     for 4 rows of a:        rows  <- a[rows, :] as float                 one step of k at a time
#include <algorithm>
#include <cstring>
#include <vector>

#include "ops/plain/kernels.hpp"
#include "ops/plain/matrix.hpp"
#include "ops/strided.hpp"

namespace labrig::kernels {
namespace {

constexpr std::int64_t kColumns = 8;
constexpr std::int64_t kRows = 4;
constexpr std::int64_t kDepth = 256;

// acc[r][c] = sum over k of rows[r][k] * panel[k][c], k ascending. A row of columns is one value of a vector type,
// which g++ and clang++ both have: left to themselves they transpose in every step of k, and take four times as long.
template <class V>
void tile(const V* rows, const V* panel, std::int64_t depth, V (&result)[kRows][kColumns]) {
  using Lane [[gnu::vector_size(kColumns * sizeof(V))]] = V;
  double total[kRows][kColumns] = {};
  for (std::int64_t first = 0; first < depth; first += kDepth) {
    Lane acc[kRows] = {};
    for (std::int64_t k = first; k < std::min(depth, first + kDepth); ++k) {
      Lane b;
      std::memcpy(&b, panel + k * kColumns, sizeof b);
      for (std::int64_t r = 0; r < kRows; ++r) acc[r] += rows[r * depth + k] * b;
    }
    for (std::int64_t r = 0; r < kRows; ++r) {
      for (std::int64_t c = 0; c < kColumns; ++c) total[r][c] += static_cast<double>(acc[r][c]);
    }
  }
  for (std::int64_t r = 0; r < kRows; ++r) {
    for (std::int64_t c = 0; c < kColumns; ++c) result[r][c] = static_cast<V>(total[r][c]);
  }
}

// out [m, n] <- a [m, k] b [k, n], plus bias [n] where there is one.
template <class T>
void multiply(const Operand& out, const Operand& a, const Operand& b, const Operand* bias) {
  using V = Arithmetic<T>;
  const std::int64_t m = out.sizes[0], n = out.sizes[1], depth = a.sizes[1];
  auto* to = static_cast<T*>(out.data);
  const auto* from_a = static_cast<const T*>(a.data);
  const auto* from_b = static_cast<const T*>(b.data);
  const auto with_bias = [&](V sum, std::int64_t column) {
    return bias ? sum + load(static_cast<const T*>(bias->data)[column * bias->strides[0]]) : sum;
  };

  // Rows and columns beyond the edge stay 0 and are not stored.
  const std::int64_t padded = (m + kRows - 1) / kRows * kRows;
  std::vector<V> rows(static_cast<std::size_t>(padded * depth));
  for (std::int64_t i = 0; i < m; ++i) {
    for (std::int64_t k = 0; k < depth; ++k) {
      rows[static_cast<std::size_t>(i * depth + k)] = load(from_a[i * a.strides[0] + k * a.strides[1]]);
    }
  }
  std::vector<V> panel(static_cast<std::size_t>(depth * kColumns));
  for (std::int64_t j = 0; j < n; j += kColumns) {
    const std::int64_t columns = std::min(kColumns, n - j);
    for (std::int64_t k = 0; k < depth; ++k) {
      for (std::int64_t c = 0; c < columns; ++c) {
        panel[static_cast<std::size_t>(k * kColumns + c)] = load(from_b[k * b.strides[0] + (j + c) * b.strides[1]]);
      }
    }
    for (std::int64_t i = 0; i < m; i += kRows) {
      V result[kRows][kColumns];
      tile(rows.data() + i * depth, panel.data(), depth, result);
      for (std::int64_t r = 0; r < std::min(kRows, m - i); ++r) {
        for (std::int64_t c = 0; c < columns; ++c) {
          to[(i + r) * out.strides[0] + (j + c) * out.strides[1]] = store<T>(with_bias(result[r][c], j + c));
        }
      }
    }
  }
}

void multiply(const Operand& out, const Operand& a, const Operand& b, const Operand* bias = nullptr) {
  switch (out.dtype) {
    case Dtype::f32:
      return multiply<float>(out, a, b, bias);
    case Dtype::f16:
      return multiply<float16>(out, a, b, bias);
    case Dtype::bf16:
      return multiply<bfloat16>(out, a, b, bias);
    case Dtype::f64:
      return multiply<double>(out, a, b, bias);
    default:
      return;  // the schema lets no other type through
  }
}

}  // namespace

Operand matrix_of(const Operand& batch, std::int64_t i) {
  Operand matrix = batch;
  const auto offset = i * batch.strides[0] * static_cast<std::int64_t>(element_bytes(batch.dtype));
  if (batch.data != nullptr) matrix.data = static_cast<std::byte*>(batch.data) + offset;  // without elements it may be
  matrix.sizes = {batch.sizes[1], batch.sizes[2]};
  matrix.strides = {batch.strides[1], batch.strides[2]};
  return matrix;
}

Operand transposed(const Operand& matrix) {
  Operand result = matrix;
  result.sizes = {matrix.sizes[1], matrix.sizes[0]};
  result.strides = {matrix.strides[1], matrix.strides[0]};
  return result;
}

void matmul(const KernelCall& call) { multiply(call.operands[0], call.operands[1], call.operands[2]); }

void bmm(const KernelCall& call) {
  for (std::int64_t i = 0; i < call.operands[0].sizes[0]; ++i) {
    multiply(matrix_of(call.operands[0], i), matrix_of(call.operands[1], i), matrix_of(call.operands[2], i));
  }
}

void linear(const KernelCall& call) {
  const Operand& bias = call.operands[3];
  multiply(call.operands[0], call.operands[1], transposed(call.operands[2]), is_absent(bias) ? nullptr : &bias);
}

}  // namespace labrig::kernels
