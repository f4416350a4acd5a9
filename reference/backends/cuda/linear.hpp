// Which kernel of cuBLASLt carries out a linear layer of a certain shape. Asking cuBLASLt takes longer than a small
// product, so the answer is kept. One object a card; not safe for several threads at once (CudaBackend holds its
// scratch lock).
#pragma once

#include <cublasLt.h>

#include <compare>
#include <map>

#include "blas_types.hpp"
#include "handles.hpp"

namespace labrig::cuda {

using LtDescription = UniqueHandle<cublasLtMatmulDesc_t, cublasLtMatmulDescDestroy>;
using LtLayout = UniqueHandle<cublasLtMatrixLayout_t, cublasLtMatrixLayoutDestroy>;

struct LinearShape {
  Dtype dtype{};
  bool x_transposed = false, weight_transposed = false;
  std::int64_t m = 0, n = 0, k = 0, out_leading = 0, x_leading = 0, weight_leading = 0;
  auto operator<=>(const LinearShape&) const = default;
};

struct LinearPlan {
  bool found = false;  // cuBLASLt has a kernel
  LtDescription description;
  LtLayout weight, x, out;
  cublasLtMatmulAlgo_t algorithm{};
};

class LinearPlans {
 public:
  LinearPlan& of(const LinearShape& shape, cublasLtHandle_t handle, std::size_t workspace_bytes);

 private:
  static constexpr std::size_t kMost = 1024;  // then all are forgotten: shapes may go on changing for ever
  std::map<LinearShape, LinearPlan> plans_;
};

}  // namespace labrig::cuda
