// matmul: out [m, n] <- a [m, k] b [k, n] through cuBLAS. f32 is computed in full f32 (no tf32), 16-bit types
// accumulate in f32.
//
// cuBLAS counts columns first: what it calls a matrix with leading dimension ld is our row-major matrix transposed. So
// we ask for out^T = b^T a^T: the operands swap places, and row-major memory needs no flag while a transposed view asks
// for CUBLAS_OP_T. Operands with no stride of 1 (a slice with a step, an expanded row) go to matmul_strided.cu, which
// reads any strides and needs no copy.
#include <cublas_v2.h>

#include <optional>

#include "check.hpp"
#include "launch.hpp"

namespace labrig::cuda {
namespace {

// How cuBLAS is told about a [rows, columns] operand: row-major with a gap, or the transpose of that.
struct MatrixView {
  bool transposed = false;
  std::int64_t leading = 1;  // elements from one line to the next
};

std::optional<MatrixView> matrix_view(const Operand& operand) {
  const std::int64_t rows = operand.sizes[0], columns = operand.sizes[1];
  // The stride of a dimension with a single element says nothing: it may be read as whatever fits.
  const std::int64_t row_stride = rows == 1 ? std::max(columns, operand.strides[0]) : operand.strides[0];
  const std::int64_t column_stride = columns == 1 ? std::max(rows, operand.strides[1]) : operand.strides[1];
  if ((columns == 1 || column_stride == 1) && row_stride >= columns) return MatrixView{false, row_stride};
  if ((rows == 1 || row_stride == 1) && column_stride >= rows) return MatrixView{true, column_stride};
  return std::nullopt;
}

cudaDataType_t type_of(Dtype dtype) {
  switch (dtype) {
    case Dtype::f16:
      return CUDA_R_16F;
    case Dtype::bf16:
      return CUDA_R_16BF;
    case Dtype::f64:
      return CUDA_R_64F;
    default:
      return CUDA_R_32F;
  }
}

// One product in cuBLAS's terms: out, which has no gap inside a row, is left [m, k] times right [k, n].
struct Product {
  const Operand *out, *left, *right;
  MatrixView out_view, left_view, right_view;
  std::int64_t m, n, k;
};

void multiply(const Product& p, cublasHandle_t blas) {
  const cudaDataType_t type = type_of(p.out->dtype);
  const bool wide = p.out->dtype == Dtype::f64;
  const float one = 1, zero = 0;
  const double wide_one = 1, wide_zero = 0;
  const auto flag = [](const MatrixView& view) { return view.transposed ? CUBLAS_OP_T : CUBLAS_OP_N; };
  check(cublasGemmEx_64(blas, flag(p.right_view), flag(p.left_view), p.n, p.m, p.k,
                        wide ? static_cast<const void*>(&wide_one) : &one, p.right->data, type, p.right_view.leading,
                        p.left->data, type, p.left_view.leading, wide ? static_cast<const void*>(&wide_zero) : &zero,
                        p.out->data, type, p.out_view.leading, wide ? CUBLAS_COMPUTE_64F : CUBLAS_COMPUTE_32F,
                        CUBLAS_GEMM_DEFAULT),
        "cublasGemmEx");
}

MatrixView flipped(const MatrixView& view) { return {!view.transposed, view.leading}; }

}  // namespace

void launch_matmul(const KernelCall& call, const LaunchContext& context) {
  const Operand &out = call.operands[0], &a = call.operands[1], &b = call.operands[2];
  const std::int64_t m = out.sizes[0], n = out.sizes[1], k = a.sizes[1];
  if (m == 0 || n == 0) return;
  const auto out_view = matrix_view(out), a_view = matrix_view(a), b_view = matrix_view(b);
  // An empty sum is 0: the strided kernel writes it.
  if (k == 0 || !out_view || !a_view || !b_view) return launch_matmul_strided(call, context);
  if (!out_view->transposed) return multiply({&out, &a, &b, *out_view, *a_view, *b_view, m, n, k}, context.blas);
  // out is the transpose of a row-major matrix: compute that one, out^T = b^T a^T.
  multiply({&out, &b, &a, flipped(*out_view), flipped(*b_view), flipped(*a_view), n, m, k}, context.blas);
}

}  // namespace labrig::cuda
