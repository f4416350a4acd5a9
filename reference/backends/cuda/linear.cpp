// linear: x W^T + bias in one kernel of cuBLASLt, which adds the bias to the accumulator before the only rounding. As
// in matmul.cpp the transposed product is asked for, so that the bias, one number for each of our columns, is one for
// each of cuBLASLt's rows, as its epilogue wants it.
#include "linear.hpp"

namespace labrig::cuda {
namespace {

constexpr std::uintptr_t kAlignment = 16;  // of all operands, in bytes: cuBLASLt's kernels may count on it

bool aligned(const Operand& operand) { return reinterpret_cast<std::uintptr_t>(operand.data) % kAlignment == 0; }

LtLayout layout_of(Dtype dtype, const MatrixView& view, std::int64_t rows, std::int64_t columns) {
  // Row-major rows x columns is column-major columns x rows.
  cublasLtMatrixLayout_t layout = nullptr;
  const auto height = static_cast<std::uint64_t>(view.transposed ? rows : columns);
  const auto width = static_cast<std::uint64_t>(view.transposed ? columns : rows);
  check(cublasLtMatrixLayoutCreate(&layout, blas_type(dtype), height, width, view.leading),
        "cublasLtMatrixLayoutCreate");
  return LtLayout(layout);
}

LtDescription description_of(const LinearShape& shape) {
  cublasLtMatmulDesc_t description = nullptr;
  const cudaDataType_t scale = shape.dtype == Dtype::f64 ? CUDA_R_64F : CUDA_R_32F;
  check(cublasLtMatmulDescCreate(&description, blas_compute_type(shape.dtype), scale), "cublasLtMatmulDescCreate");
  LtDescription owner(description);
  const auto set = [&](cublasLtMatmulDescAttributes_t attribute, auto value) {
    check(cublasLtMatmulDescSetAttribute(description, attribute, &value, sizeof(value)),
          "cublasLtMatmulDescSetAttribute");
  };
  set(CUBLASLT_MATMUL_DESC_TRANSA, shape.weight_transposed ? CUBLAS_OP_T : CUBLAS_OP_N);
  set(CUBLASLT_MATMUL_DESC_TRANSB, shape.x_transposed ? CUBLAS_OP_T : CUBLAS_OP_N);
  set(CUBLASLT_MATMUL_DESC_EPILOGUE, CUBLASLT_EPILOGUE_BIAS);
  return owner;
}

using Preference = UniqueHandle<cublasLtMatmulPreference_t, cublasLtMatmulPreferenceDestroy>;

// Sums of 16-bit products stay in f32 also where a product is split over several blocks.
Preference preference_for(std::size_t workspace_bytes) {
  cublasLtMatmulPreference_t preference = nullptr;
  check(cublasLtMatmulPreferenceCreate(&preference), "cublasLtMatmulPreferenceCreate");
  Preference owner(preference);
  const auto set = [&](cublasLtMatmulPreferenceAttributes_t attribute, auto value) {
    check(cublasLtMatmulPreferenceSetAttribute(preference, attribute, &value, sizeof(value)),
          "cublasLtMatmulPreferenceSetAttribute");
  };
  set(CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, std::uint64_t{workspace_bytes});
  set(CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK,
      static_cast<std::uint32_t>(CUBLASLT_REDUCTION_SCHEME_NONE | CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE));
  for (const auto attribute : {CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES,
                               CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES})
    set(attribute, static_cast<std::uint32_t>(kAlignment));
  return owner;
}

}  // namespace

LinearPlan& LinearPlans::of(const LinearShape& shape, cublasLtHandle_t handle, std::size_t workspace_bytes) {
  if (const auto known = plans_.find(shape); known != plans_.end()) return known->second;
  LinearPlan plan;
  plan.description = description_of(shape);
  plan.weight = layout_of(shape.dtype, {shape.weight_transposed, shape.weight_leading}, shape.k, shape.n);
  plan.x = layout_of(shape.dtype, {shape.x_transposed, shape.x_leading}, shape.m, shape.k);
  plan.out = layout_of(shape.dtype, {false, shape.out_leading}, shape.m, shape.n);
  const Preference preference = preference_for(workspace_bytes);
  cublasLtMatmulHeuristicResult_t result{};
  int found = 0;
  const cublasStatus_t status =
      cublasLtMatmulAlgoGetHeuristic(handle, plan.description.get(), plan.weight.get(), plan.x.get(), plan.out.get(),
                                     plan.out.get(), preference.get(), 1, &result, &found);
  plan.found = status == CUBLAS_STATUS_SUCCESS && found > 0 && result.state == CUBLAS_STATUS_SUCCESS;
  plan.algorithm = result.algo;
  if (plans_.size() >= kMost) plans_.clear();
  return plans_.emplace(shape, std::move(plan)).first->second;
}

bool launch_linear_fused(const Product& p, const LaunchContext& context) {
  const auto out = matrix_view(p.out), x = matrix_view(p.a), weight = matrix_view(p.b);
  const bool bias_is_a_line = p.bias->strides[0] == 1 || p.n() == 1;
  if (out->transposed || !bias_is_a_line) return false;
  if (!aligned(p.out) || !aligned(p.a) || !aligned(p.b) || !aligned(*p.bias)) return false;
  // A handle of cuBLAS is one of cuBLASLt too.
  const auto handle = reinterpret_cast<cublasLtHandle_t>(context.blas);
  const Dtype dtype = p.out.dtype;
  const LinearShape shape{dtype, x->transposed, weight->transposed, p.m(),          p.n(),
                          p.k(), out->leading,  x->leading,         weight->leading};
  LinearPlan& plan = context.linear_plans->of(shape, handle, context.scratch_bytes);
  if (!plan.found) return false;
  const void* bias = p.bias->data;
  check(cublasLtMatmulDescSetAttribute(plan.description.get(), CUBLASLT_MATMUL_DESC_BIAS_POINTER, &bias, sizeof(bias)),
        "cublasLtMatmulDescSetAttribute");
  const BlasNumber one(dtype, 1), zero(dtype, 0);
  check(cublasLtMatmul(handle, plan.description.get(), one.get(), p.b.data, plan.weight.get(), p.a.data, plan.x.get(),
                       zero.get(), p.out.data, plan.out.get(), p.out.data, plan.out.get(), &plan.algorithm,
                       context.scratch, context.scratch_bytes, context.stream),
        "cublasLtMatmul");
  return true;
}

}  // namespace labrig::cuda
