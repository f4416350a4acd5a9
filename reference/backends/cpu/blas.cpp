// OpenBLAS, opened at run time.
#include "blas.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <cstdlib>
#include <limits>

namespace labrig::cpu {
namespace {

// The few declarations of cblas.h that are needed.
enum Order { kRowMajor = 101 };
enum Transpose { kNo = 111, kYes = 112 };
template <class T>
using Gemm = void (*)(Order, Transpose, Transpose, int m, int n, int k, T alpha, const T* a, int lda, const T* b,
                      int ldb, T beta, T* c, int ldc);

// An OpenBLAS that is older than an Intel processor does not know it and takes it for one of 2004, six times slower
// than need be. While this lives, OpenBLAS is told which of its kernels the processor can run, unless the user has said
// so.
class ProcessorHint {
 public:
  ProcessorHint() {
#if defined(__x86_64__)
    if (!__builtin_cpu_is("intel") || std::getenv(kVariable)) return;
    const bool wide = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                      __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
    const bool narrow = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
    if (wide || narrow) set_ = setenv(kVariable, wide ? "SkylakeX" : "Haswell", 0) == 0;
#endif
  }
  ~ProcessorHint() {
    if (set_) unsetenv(kVariable);
  }
  ProcessorHint(const ProcessorHint&) = delete;
  ProcessorHint& operator=(const ProcessorHint&) = delete;

 private:
  static constexpr const char* kVariable = "OPENBLAS_CORETYPE";
  bool set_ = false;
};

struct Library {
  Gemm<float> sgemm = nullptr;
  Gemm<double> dgemm = nullptr;

  Library() {
    const ProcessorHint hint;
    void* const handle = dlopen("libopenblas.so.0", RTLD_NOW | RTLD_LOCAL);  // stays open
    if (!handle) return;
    sgemm = reinterpret_cast<Gemm<float>>(dlsym(handle, "cblas_sgemm"));
    dgemm = reinterpret_cast<Gemm<double>>(dlsym(handle, "cblas_dgemm"));
    const auto set_threads = reinterpret_cast<void (*)(int)>(dlsym(handle, "openblas_set_num_threads"));
    const char* threads = std::getenv("LABRIG_CPU_THREADS");
    if (set_threads && threads && std::atoi(threads) > 0) set_threads(std::atoi(threads));
  }
};

const Library& library() {
  static const Library instance;
  return instance;
}

template <class T>
bool call(Gemm<T> gemm, std::int64_t m, std::int64_t n, std::int64_t k, const Matrix<const T>& a,
          const Matrix<const T>& b, const Matrix<T>& out, bool add) {
  const std::int64_t largest = std::max({m, n, k, a.leading, b.leading, out.leading});
  if (!gemm || largest > std::numeric_limits<int>::max()) return false;
  const auto narrow = [](std::int64_t value) { return static_cast<int>(value); };
  gemm(kRowMajor, a.transposed ? kYes : kNo, b.transposed ? kYes : kNo, narrow(m), narrow(n), narrow(k), T{1}, a.data,
       narrow(a.leading), b.data, narrow(b.leading), add ? T{1} : T{0}, out.data, narrow(out.leading));
  return true;
}

}  // namespace

bool gemm(std::int64_t m, std::int64_t n, std::int64_t k, Matrix<const float> a, Matrix<const float> b,
          Matrix<float> out, bool add) {
  return call(library().sgemm, m, n, k, a, b, out, add);
}

bool gemm(std::int64_t m, std::int64_t n, std::int64_t k, Matrix<const double> a, Matrix<const double> b,
          Matrix<double> out, bool add) {
  return call(library().dgemm, m, n, k, a, b, out, add);
}

}  // namespace labrig::cpu
