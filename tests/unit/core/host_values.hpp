// Values in and out of tensors, as tests of operators write them: everything as double on the host.
#pragma once

#include <vector>

#include "labrig/tensor.hpp"

namespace labrig::test {

inline Tensor doubles(const std::vector<double>& values, const Dims& sizes) {
  return tensor<double>(std::span<const double>(values), sizes);
}

// In row-major order, fetched if on a card.
inline std::vector<double> values(const Tensor& x) {
  const Tensor host = x.detach().cpu().to(kF64).contiguous();
  const auto data = host.data<const double>();
  return {data.begin(), data.end()};
}

}  // namespace labrig::test
