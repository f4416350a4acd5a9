// Vectors of one number a channel, of any floating point type, read and written as double. Only few, so that their
// conversion does not count.
#pragma once

#include <vector>

#include "ops/strided.hpp"

namespace labrig::kernels {

// `count` values; all are `otherwise` where the operand is absent.
inline std::vector<double> read_parameters(const Operand& operand, std::int64_t count, double otherwise) {
  std::vector<double> values(static_cast<std::size_t>(count), otherwise);
  if (operand.sizes[0] != count) return values;
  dispatch_float(operand.dtype, [&]<class T>() {
    const auto* from = static_cast<const T*>(operand.data);
    for (double& value : values) {
      value = static_cast<double>(load(*from));
      from += operand.strides[0];
    }
  });
  return values;
}

// Nothing where the operand is absent.
inline void write_parameters(const Operand& operand, const std::vector<double>& values) {
  if (operand.sizes[0] != static_cast<std::int64_t>(values.size())) return;
  dispatch_float(operand.dtype, [&]<class T>() {
    auto* to = static_cast<T*>(operand.data);
    for (const double value : values) {
      *to = store<T>(static_cast<Arithmetic<T>>(value));
      to += operand.strides[0];
    }
  });
}

// The type of means and deviations of data of type T.
template <class T>
using Statistic = std::conditional_t<std::is_same_v<T, double>, double, float>;

}  // namespace labrig::kernels
