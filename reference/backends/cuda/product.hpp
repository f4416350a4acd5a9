// The matrix products matmul, bmm and linear in one form: out [batch, m, n] <- a [batch, m, k] b [batch, k, n], plus a
// bias [n] of linear. Everything is a view: the weight of linear is given as its transpose. Read next: matmul.cpp
// (which library function or kernel carries it out).
#pragma once

#include <optional>

#include "launch.hpp"

namespace labrig::cuda {

// How cuBLAS is told about a [rows, columns] operand: row-major with a gap, or the transpose of that.
struct MatrixView {
  bool transposed = false;
  std::int64_t leading = 1;  // elements from one line to the next

  MatrixView flipped() const { return {!transposed, leading}; }
};

struct Product {
  Operand out, a, b;              // three dimensions each
  const Operand* bias = nullptr;  // null: none
  std::int64_t batch() const { return out.sizes[0]; }
  std::int64_t m() const { return out.sizes[1]; }
  std::int64_t n() const { return out.sizes[2]; }
  std::int64_t k() const { return a.sizes[2]; }
};

// The matrices of an operand of a product, where cuBLAS can read them as they lie.
std::optional<MatrixView> matrix_view(const Operand& operand);

// linear.cpp: product and bias in one kernel of cuBLASLt. False when cuBLASLt has none for these operands; then nothing
// has been done.
bool launch_linear_fused(const Product& product, const LaunchContext& context);
// matmul_strided.cu: for operands of any strides.
void launch_matmul_strided(const Product& product, const LaunchContext& context);

}  // namespace labrig::cuda
