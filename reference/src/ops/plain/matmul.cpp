// Matrix product. Each output is the sum over k in ascending order, in float (double for f64), however the operands
// lie:
//
//   for a band of 8 columns:  panel <- b[:, band] as rows of 8           out[4 rows, 8 columns] in registers,
//     for 4 rows of a:        rows  <- a[rows, :] as float                 one step of k at a time
#include <algorithm>
#include <tuple>
#include <vector>

#include "ops/plain/kernels.hpp"
#include "ops/strided.hpp"

namespace labrig::kernels {
namespace {

constexpr std::int64_t kColumns = 8;
constexpr std::int64_t kRows = 4;

// acc[r][c] = sum over k of rows[r][k] * panel[k][c], k ascending.
template <class V>
void tile(const V* rows, const V* panel, std::int64_t depth, V (&result)[kRows][kColumns]) {
  V acc[kRows][kColumns] = {};
  for (std::int64_t k = 0; k < depth; ++k) {
    const V* b = panel + k * kColumns;
    for (std::int64_t r = 0; r < kRows; ++r) {
      const V a = rows[r * depth + k];
      for (std::int64_t c = 0; c < kColumns; ++c) acc[r][c] += a * b[c];
    }
  }
  for (std::int64_t r = 0; r < kRows; ++r) {
    for (std::int64_t c = 0; c < kColumns; ++c) result[r][c] = acc[r][c];
  }
}

template <class T>
void multiply(const Operand& out, const Operand& a, const Operand& b) {
  using V = Arithmetic<T>;
  const std::int64_t m = out.sizes[0], n = out.sizes[1], depth = a.sizes[1];
  auto* to = static_cast<T*>(out.data);
  const auto* from_a = static_cast<const T*>(a.data);
  const auto* from_b = static_cast<const T*>(b.data);

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
          to[(i + r) * out.strides[0] + (j + c) * out.strides[1]] = store<T>(result[r][c]);
        }
      }
    }
  }
}

}  // namespace

void matmul(const KernelCall& call) {
  const auto& [out, a, b] = std::tie(call.operands[0], call.operands[1], call.operands[2]);
  switch (out.dtype) {
    case Dtype::f32:
      return multiply<float>(out, a, b);
    case Dtype::f16:
      return multiply<float16>(out, a, b);
    case Dtype::bf16:
      return multiply<bfloat16>(out, a, b);
    case Dtype::f64:
      return multiply<double>(out, a, b);
    default:
      return;  // the schema lets no other type through
  }
}

}  // namespace labrig::kernels
