// What becomes of an error code of the CUDA runtime or of cuBLAS. `check` throws labrig::Error with PyTorch's text, the
// call that returned the code and what to do; `ignore` is for destructors, which must not throw. Errors of a kernel
// that ran before name its launch (launch_log.hpp).
#pragma once

#include <cublas_api.h>
#include <cuda_runtime_api.h>

#include <string>
#include <string_view>

#include "labrig/error.hpp"

namespace labrig::cuda {

// The error for a code that is not success. `call` is the function that returned it.
Error error_of(cudaError_t code, const std::string& call);
Error error_of(cublasStatus_t code, const std::string& call);

inline void check(cudaError_t code, const char* call) {
  if (code != cudaSuccess) throw error_of(code, call);
}
inline void check(cublasStatus_t code, const char* call) {
  if (code != CUBLAS_STATUS_SUCCESS) throw error_of(code, call);
}

// After a kernel launch: throws when it was refused (a wrong configuration, no code for this card). What goes wrong
// while the kernel runs is reported by a later call, usually a synchronisation.
inline void check_launch(std::string_view kernel) {
  if (const cudaError_t code = cudaGetLastError(); code != cudaSuccess)
    throw error_of(code, "launch of kernel " + std::string(kernel));
}

// For destructors. A failure that matters returns from every later call too (CUDA's errors stick), and at the end of
// the process the runtime may be gone already.
inline void ignore(cudaError_t code) noexcept {
  if (code != cudaSuccess) static_cast<void>(cudaGetLastError());
}
inline void ignore(cublasStatus_t) noexcept {}

}  // namespace labrig::cuda
