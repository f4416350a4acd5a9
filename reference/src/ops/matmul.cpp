// The matrix product. Operands of one dimension become a row or a column for the call, as in torch.matmul:
//
//   [m, k] x [k, n] -> [m, n]     [k] x [k, n] -> [n]     [m, k] x [k] -> [m]     [k] x [k] -> []
#include <string>

#include "labrig/error.hpp"
#include "ops/operands.hpp"
#include "tensor/names.hpp"

namespace labrig {
namespace {

std::string shape(const Tensor& matrix) {
  return std::to_string(matrix.size(0)) + "x" + std::to_string(matrix.size(1));
}

void check_dims(const Tensor& a, const Tensor& b) {
  const bool too_few = a.dim() == 0 || b.dim() == 0, too_many = a.dim() > 2 || b.dim() > 2;
  if (!too_few && !too_many) return;
  throw Error("shape-mismatch",
              std::string("both arguments to matmul need to be at ") + (too_few ? "least 1D" : "most 2D") +
                  ", but they are " + std::to_string(a.dim()) + "D and " + std::to_string(b.dim()) + "D",
              "this product is defined for matrices, with vectors as rows or columns",
              too_few ? "use mul for a product with a single value" : "multiply one matrix of the batch at a time");
}

void check_types(const Tensor& a, const Tensor& b) {
  if (a.dtype() != b.dtype()) {
    // PyTorch's text differs between the host and a card.
    const bool host = a.device().is_cpu();
    throw Error("dtype-mismatch",
                std::string("expected ") + (host ? "m1 and m2" : "mat1 and mat2") +
                    " to have the same dtype, but got: " + torch_name_of(a.dtype()) + " != " + torch_name_of(b.dtype()),
                "a product does not convert its operands by itself: that would be a hidden copy of a whole matrix",
                std::string("convert one of them once, for example with .to(") + name_of(a.dtype()) + ")");
  }
  if (!is_floating_point(a.dtype())) {
    throw Error("dtype-mismatch", std::string("\"addmm\" not implemented for '") + torch_type_name(a.dtype()) + "'",
                "matrix products are made for floating point types", "convert the operands to f32");
  }
}

}  // namespace

Tensor matmul(const Tensor& a, const Tensor& b) {
  const Device device = strict_device("matmul", "wrapper_CUDA_mm", {{"mat1", &a}, {"mat2", &b}});
  check_dims(a, b);
  const Tensor mat1 = a.dim() == 1 ? a.unsqueeze(0) : a;
  const Tensor mat2 = b.dim() == 1 ? b.unsqueeze(1) : b;
  if (mat1.size(1) != mat2.size(0)) {
    throw Error("shape-mismatch",
                "mat1 and mat2 shapes cannot be multiplied (" + shape(mat1) + " and " + shape(mat2) + ")",
                "the columns of the first, " + std::to_string(mat1.size(1)) + ", must be the rows of the second, " +
                    std::to_string(mat2.size(0)),
                "transpose one of them with t(), or check in which order they are multiplied");
  }
  check_types(a, b);
  Tensor out = make_tensor({mat1.size(0), mat2.size(1)}, {a.dtype(), device}, "matmul");
  run(Kernel::matmul, {&out, &mat1, &mat2});
  if (b.dim() == 1) out = out.select(1, 0);
  if (a.dim() == 1) out = out.select(0, 0);
  return out;
}

}  // namespace labrig
