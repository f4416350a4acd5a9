// For formulas that host and card calculate with the same code: LABRIG_HD marks a function that nvcc also compiles for
// the card, and times() and plus() round each step by itself there, as the host does (built with -ffp-contract=off).
// No header of CUDA is needed. Read next: formulas.hpp, philox.hpp.
#pragma once

#include <cmath>
#include <cstdint>

#ifdef __CUDACC__
#define LABRIG_HD __host__ __device__
#else
#define LABRIG_HD
#endif

namespace labrig {

LABRIG_HD inline double times(double a, double b) {
#ifdef __CUDA_ARCH__
  return __dmul_rn(a, b);
#else
  return a * b;
#endif
}

LABRIG_HD inline double plus(double a, double b) {
#ifdef __CUDA_ARCH__
  return __dadd_rn(a, b);
#else
  return a + b;
#endif
}

// a b + c, rounded once.
template <class V>
LABRIG_HD V fused(V a, V b, V c) {
#ifdef __CUDA_ARCH__
  return ::fma(a, b, c);
#else
  return std::fma(a, b, c);
#endif
}

// The upper 64 bits of a product.
LABRIG_HD inline std::uint64_t upper_product(std::uint64_t a, std::uint64_t b) {
#ifdef __CUDA_ARCH__
  return __umul64hi(a, b);
#else
  __extension__ using Wide = unsigned __int128;
  return static_cast<std::uint64_t>(static_cast<Wide>(a) * b >> 64);
#endif
}

}  // namespace labrig
