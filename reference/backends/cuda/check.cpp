// The texts for CUDA's error codes that a student meets; all others get the general one.
#include "check.hpp"

#include "launch_log.hpp"

namespace labrig::cuda {
namespace {

struct Advice {
  cudaError_t code;
  const char* why;
  const char* fix;
};

constexpr Advice kAdvice[] = {
    {cudaErrorMemoryAllocation, "the card, or the host for pinned memory, has no room left",
     "free tensors, or make batches smaller; `nvidia-smi` shows what other processes hold"},
    {cudaErrorNoKernelImageForDevice, "labrig's kernels were not compiled for this card's generation",
     "build with -DCMAKE_CUDA_ARCHITECTURES=native on this machine"},
    {cudaErrorUnsupportedPtxVersion, "the driver is older than the CUDA toolkit that labrig was built with",
     "install a newer driver, or build labrig with the toolkit that the driver supports"},
    {cudaErrorInvalidValue, "an argument of the call is not valid; an address may belong to another device or be freed",
     "check which device each tensor of the failing line lives on"},
    {cudaErrorDevicesUnavailable, "another process holds the card for itself alone",
     "wait until it ends (`nvidia-smi` lists it), or choose another card"},
};

}  // namespace

Error error_of(cudaError_t code, const std::string& call) {
  if (LaunchLog* log = LaunchLog::current(); log != nullptr && is_deadly(code)) return log->explain(code, call);
  const std::string what = std::string("CUDA error: ") + cudaGetErrorString(code);
  const std::string where = call + " returned " + cudaGetErrorName(code);
  for (const Advice& advice : kAdvice)
    if (advice.code == code) return {"cuda-error", what, where + ": " + advice.why, advice.fix};
  return {
      "cuda-error", what, where + "; an earlier call may be the cause, since the card works behind the host",
      "run with CUDA_LAUNCH_BLOCKING=1 to see which call it is; if nothing works any more, start the program again"};
}

Error error_of(cublasStatus_t code, const std::string& call) {
  // After a deadly error cuBLAS fails too and says less about it.
  if (const cudaError_t deeper = cudaPeekAtLastError(); is_deadly(deeper)) return error_of(deeper, call);
  const std::string what = std::string("CUDA error: ") + cublasGetStatusName(code) + " when calling `" + call + "`";
  if (code == CUBLAS_STATUS_NOT_INITIALIZED || code == CUBLAS_STATUS_ALLOC_FAILED)
    return {"cublas-error", what, "cuBLAS could not get what it needs on the card, most often memory",
            "free device memory before the first matrix product; `nvidia-smi` shows what is in use"};
  if (code == CUBLAS_STATUS_ARCH_MISMATCH || code == CUBLAS_STATUS_NOT_SUPPORTED)
    return {"cublas-error", what, "this card or this cuBLAS cannot multiply matrices of this type",
            "use f32, which works everywhere (bf16 needs compute capability 8.0)"};
  return {"cublas-error", what, std::string(cublasGetStatusString(code)) + "; an earlier kernel may be the cause",
          "run with CUDA_LAUNCH_BLOCKING=1 to see which call it is"};
}

}  // namespace labrig::cuda
