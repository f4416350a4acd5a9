// The door to OpenBLAS. The library is opened when the first product is computed: loading it takes several milliseconds
// and starts a thread for each core, which a program that multiplies nothing should not pay for.
#pragma once

#include <cstdint>

namespace labrig::cpu {

// A matrix with one dimension of stride 1: rows of `leading` elements, or columns when `transposed`.
template <class T>
struct Matrix {
  T* data = nullptr;
  std::int64_t leading = 0;
  bool transposed = false;
};

// out [m, n] <- a [m, k] b [k, n], or out + a b; `out` is not transposed. False, and nothing done, when there is no OpenBLAS or the
// sizes are beyond its 32-bit integers. LABRIG_CPU_THREADS sets how many threads it uses (default: all cores).
bool gemm(std::int64_t m, std::int64_t n, std::int64_t k, Matrix<const float> a, Matrix<const float> b,
          Matrix<float> out, bool add = false);
bool gemm(std::int64_t m, std::int64_t n, std::int64_t k, Matrix<const double> a, Matrix<const double> b,
          Matrix<double> out, bool add = false);

}  // namespace labrig::cpu
