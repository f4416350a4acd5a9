// matmul, bmm and linear through cuBLAS. f32 is computed in full f32 (no tf32), 16-bit types accumulate in f32 and are
// rounded once, after the bias.
//
// cuBLAS counts columns first: what it calls a matrix with leading dimension ld is our row-major matrix transposed. So
// we ask for out^T = b^T a^T: the operands swap places, and row-major memory needs no flag while a transposed view asks
// for CUBLAS_OP_T. Operands with no stride of 1 (a slice with a step, an expanded row) go to matmul_strided.cu, which
// reads any strides and needs no copy.
#include <cublas_v2.h>

#include "blas_types.hpp"
#include "check.hpp"
#include "product.hpp"

namespace labrig::cuda {
namespace {

// One product in cuBLAS's terms: out, which has no gap inside a row, is left [m, k] times right [k, n], plus what out
// holds already where `adds`.
struct Gemm {
  const Operand *out, *left, *right;
  MatrixView out_view, left_view, right_view;
  std::int64_t m, n, k, batch;
  bool adds;
};

constexpr std::int64_t kMostBatch = 65535;  // of one call

void multiply(const Gemm& p, cublasHandle_t blas) {
  const Dtype dtype = p.out->dtype;
  const cudaDataType_t type = blas_type(dtype);
  const BlasNumber one(dtype, 1), beta(dtype, p.adds ? 1 : 0);
  const auto at = [&](const Operand& operand, std::int64_t first) {
    return static_cast<std::byte*>(operand.data) +
           first * operand.strides[0] * static_cast<std::int64_t>(element_bytes(dtype));
  };
  for (std::int64_t first = 0; first < p.batch; first += kMostBatch) {
    check(cublasGemmStridedBatchedEx_64(
              blas, blas_flag(p.right_view), blas_flag(p.left_view), p.n, p.m, p.k, one.get(), at(*p.right, first),
              type, p.right_view.leading, p.right->strides[0], at(*p.left, first), type, p.left_view.leading,
              p.left->strides[0], beta.get(), at(*p.out, first), type, p.out_view.leading, p.out->strides[0],
              std::min(kMostBatch, p.batch - first), blas_compute_type(dtype), CUBLAS_GEMM_DEFAULT),
          "cublasGemmStridedBatchedEx");
  }
}

// The bias in every row of out, to which the product is then added in the accumulator.
void launch_bias_rows(const Product& p, const LaunchContext& context) {
  KernelCall copy;
  copy.kernel = Kernel::copy;
  copy.push(p.out);
  copy.push(*p.bias);
  launch_copy(copy, context);
}

Operand batched(const Operand& matrix) {
  Operand result = matrix;
  result.sizes = {1, matrix.sizes[0], matrix.sizes[1]};
  result.strides = {0, matrix.strides[0], matrix.strides[1]};
  return result;
}

Operand transposed(const Operand& matrix) {
  Operand result = matrix;
  std::swap(result.sizes[0], result.sizes[1]);
  std::swap(result.strides[0], result.strides[1]);
  return result;
}

Product product_of(const KernelCall& call) {
  const Operand &out = call.operands[0], &a = call.operands[1], &b = call.operands[2];
  if (call.kernel == Kernel::bmm) return {out, a, b, nullptr};
  if (call.kernel == Kernel::matmul) return {batched(out), batched(a), batched(b), nullptr};
  const Operand& bias = call.operands[3];
  return {batched(out), batched(a), batched(transposed(b)), is_absent(bias) ? nullptr : &bias};
}

}  // namespace

std::optional<MatrixView> matrix_view(const Operand& operand) {
  const std::int64_t rows = operand.sizes[1], columns = operand.sizes[2];
  // The stride of a dimension with a single element says nothing: it may be read as whatever fits.
  const std::int64_t row_stride = rows == 1 ? std::max(columns, operand.strides[1]) : operand.strides[1];
  const std::int64_t column_stride = columns == 1 ? std::max(rows, operand.strides[2]) : operand.strides[2];
  if ((columns == 1 || column_stride == 1) && row_stride >= columns) return MatrixView{false, row_stride};
  if ((rows == 1 || row_stride == 1) && column_stride >= rows) return MatrixView{true, column_stride};
  return std::nullopt;
}

void launch_matmul(const KernelCall& call, const LaunchContext& context) {
  const Product p = product_of(call);
  if (p.batch() == 0 || p.m() == 0 || p.n() == 0) return;
  const auto out = matrix_view(p.out), a = matrix_view(p.a), b = matrix_view(p.b);
  // An empty sum is 0: the strided kernel writes it.
  if (p.k() == 0 || !out || !a || !b) return launch_matmul_strided(p, context);
  if (p.bias != nullptr) {
    if (launch_linear_fused(p, context)) return;
    launch_bias_rows(p, context);
  }
  const bool adds = p.bias != nullptr;
  if (!out->transposed)
    return multiply({&p.out, &p.a, &p.b, *out, *a, *b, p.m(), p.n(), p.k(), p.batch(), adds}, context.blas);
  // out is the transpose of a row-major matrix: compute that one, out^T = b^T a^T.
  multiply({&p.out, &p.b, &p.a, out->flipped(), b->flipped(), a->flipped(), p.n(), p.m(), p.k(), p.batch(), adds},
           context.blas);
}

}  // namespace labrig::cuda
