// What the backward passes of elementwise operators share. Read next: binary.cpp.
#pragma once

#include "labrig/ops.hpp"

namespace labrig {

// What a gradient must look like again to be that of an input, which an operator has broadcast, promoted, or taken from
// the CPU as a number: summed over the dimensions in which it was repeated, converted, and moved. Moving waits for the
// card.
class InputForm {
 public:
  explicit InputForm(const Tensor& input) : sizes_(input.sizes()), dtype_(input.dtype()), device_(input.device()) {}
  Tensor fit(const Tensor& gradient) const { return sum_to_size(gradient, sizes_).to(device_, dtype_); }

 private:
  Dims sizes_;
  Dtype dtype_;
  Device device_;
};

}  // namespace labrig
