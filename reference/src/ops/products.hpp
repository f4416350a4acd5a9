// Checks that the products have in common. Read next: matmul.cpp, linear.cpp, conv2d.cpp.
#pragma once

#include "labrig/tensor.hpp"

namespace labrig {

// Throws `shape-mismatch` unless the columns of the first matrix are as many as the rows of the second.
void check_mm_shapes(const Tensor& mat1, const Tensor& mat2);
// Throws `dtype-mismatch` for integers and bool; `op` is what PyTorch calls the kernel.
void check_product_type(const char* op, const Tensor& a);

}  // namespace labrig
