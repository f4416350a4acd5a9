// What layer_norm and batch_norm have in common: the types of their parameters.
#pragma once

#include <string>

#include "labrig/error.hpp"
#include "labrig/tensor.hpp"
#include "tensor/names.hpp"

namespace labrig {

// Means and deviations of 16-bit data are kept in f32, others in the type of the data.
inline Dtype statistics_type(Dtype data) { return data == kF16 || data == kBF16 ? kF32 : data; }

inline void check_normalized_type(const char* kernel, const Tensor& x) {
  if (is_floating_point(x.dtype())) return;
  throw Error("dtype-mismatch",
              std::string("\"") + kernel + "\" not implemented for '" + torch_type_name(x.dtype()) + "'",
              "what is normalised has a mean of 0 and fractions", "convert the tensor to f32 first");
}

inline Error wrong_parameter_type(Dtype expected, const char* role, const Tensor& parameter) {
  return Error("dtype-mismatch",
               std::string("expected scalar type ") + torch_type_name(expected) + " but found " +
                   torch_type_name(parameter.dtype()),
               std::string(role) + " has type " + name_of(parameter.dtype()) + ", which does not go with the input's",
               "convert the module and its input to one type, or let autocast do it");
}

}  // namespace labrig
