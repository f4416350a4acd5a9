// Our element types and views in cuBLAS's words.
#pragma once

#include <cublas_api.h>

#include "product.hpp"

namespace labrig::cuda {

inline cudaDataType_t blas_type(Dtype dtype) {
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

// Full f32 for f32 (no tf32); 16-bit types accumulate in f32.
inline cublasComputeType_t blas_compute_type(Dtype dtype) {
  return dtype == Dtype::f64 ? CUBLAS_COMPUTE_64F : CUBLAS_COMPUTE_32F;
}

// alpha or beta, in the type of the arithmetic.
class BlasNumber {
 public:
  BlasNumber(Dtype dtype, double value) : wide_(value), narrow_(static_cast<float>(value)), dtype_(dtype) {}
  const void* get() const { return dtype_ == Dtype::f64 ? static_cast<const void*>(&wide_) : &narrow_; }

 private:
  double wide_;
  float narrow_;
  Dtype dtype_;
};

inline cublasOperation_t blas_flag(const MatrixView& view) { return view.transposed ? CUBLAS_OP_T : CUBLAS_OP_N; }

}  // namespace labrig::cuda
