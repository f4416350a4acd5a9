// Matrix products: mm, bmm, and matmul, which is made of the two by views. Vectors become a row or a column, dimensions
// before the last two are a batch and broadcast:
//
//   [m, k] x [k, n] -> [m, n]     [k] x [k, n] -> [n]     [b, m, k] x [k, n]: folded, one product of b m rows
//   [b, m, k] x [c, b, k, n] -> [c, b, m, n]: a batch of c b products
//
// The gradients are products with transposed views: da = dy b^T, db = a^T dy.
#include <string>

#include "graph/node.hpp"
#include "labrig/error.hpp"
#include "ops/autocast.hpp"
#include "ops/operands.hpp"
#include "ops/products.hpp"
#include "tensor/names.hpp"

namespace labrig {
namespace {

std::string shape(const Tensor& matrix) {
  return std::to_string(matrix.size(0)) + "x" + std::to_string(matrix.size(1));
}

void check_dims(const Tensor& tensor, int dims, const char* text) {
  if (tensor.dim() == dims) return;
  throw Error("shape-mismatch", text, "it has shape " + tensor.sizes().str(),
              "give it " + std::to_string(dims) + " dimensions, or use matmul, which adds and broadcasts them");
}

Error types_differ(std::string what, const Tensor& a) {
  return Error("dtype-mismatch", std::move(what),
               "a product does not convert its operands by itself: that would be a hidden copy of a whole matrix",
               std::string("convert one of them once, for example with .to(") + name_of(a.dtype()) + ")");
}

void check_mm_types(const Tensor& a, const Tensor& b) {
  if (a.dtype() != b.dtype()) {
    // PyTorch's text differs between the host and a card.
    throw types_differ(std::string("expected ") + (a.device().is_cpu() ? "m1 and m2" : "mat1 and mat2") +
                           " to have the same dtype, but got: " + torch_name_of(a.dtype()) +
                           " != " + torch_name_of(b.dtype()),
                       a);
  }
  check_product_type("addmm", a);
}

// Columns one after another, as the transpose of a new matrix has them.
bool is_by_columns(const Layout& layout) { return layout.strides[0] == 1 && layout.strides[1] == layout.sizes[0]; }

void check_vectors(const Tensor& a, const Tensor& b) {
  if (a.dim() != 1 || b.dim() != 1 || a.size(0) == b.size(0)) return;
  const std::string m = std::to_string(a.size(0)), n = std::to_string(b.size(0));
  throw Error("shape-mismatch",
              "inconsistent tensor size, expected tensor [" + m + "] and src [" + n +
                  "] to have the same number of elements, but got " + m + " and " + n + " elements respectively",
              "the product of two vectors multiplies them element by element and adds up",
              "cut or pad one of them, or use unsqueeze for the product of each with each");
}

// PyTorch's rule for [b, m, k] x [k, n] as one product of matrices, where that costs no copy, or where a batch would
// make the gradient of the smaller operand large.
bool folds(const Tensor& a, const Tensor& b) {
  const bool left = a.dim() >= b.dim();
  const Tensor& larger = left ? a : b;
  const Tensor& smaller = left ? b : a;
  if (larger.dim() < 3 || smaller.dim() > 2) return false;
  if (thread_state().grad_enabled && smaller.requires_grad()) return true;
  if (a.dim() == 2) return false;
  const Layout layout = left ? larger.layout() : larger.layout().transpose(-2, -1);
  if (layout.numel() == 0) return true;
  for (int d = 0; d + 2 < layout.dim(); ++d) {
    if (layout.strides[d] != layout.strides[d + 1] * layout.sizes[d + 1]) return false;
  }
  return true;
}

// `larger` [*, m, k] by a matrix or a vector.
Tensor folded(const Tensor& larger, const Tensor& smaller) {
  const Tensor matrix = smaller.dim() == 1 ? smaller.unsqueeze(1) : smaller;
  Dims sizes = larger.sizes();
  const int last = larger.dim() - 1;
  const std::int64_t columns = sizes[last];
  const std::int64_t rows = columns == 0 ? Dims(std::span(sizes.begin(), sizes.end() - 1)).product() : -1;
  const Tensor product = mm(larger.reshape({rows, columns}), matrix);
  sizes[last] = matrix.size(1);
  const Tensor result = product.view(sizes);
  return smaller.dim() == 1 ? result.select(last, 0) : result;
}

Tensor product_of_batches(const Tensor& a_in, const Tensor& b_in) {
  const Tensor a = a_in.dim() == 1 ? a_in.unsqueeze(0) : a_in;
  const Tensor b = b_in.dim() == 1 ? b_in.unsqueeze(1) : b_in;
  const auto batch_of = [](const Tensor& x) { return Dims(std::span(x.sizes().begin(), x.sizes().end() - 2)); };
  const Dims batch = broadcast_sizes(batch_of(a), batch_of(b));
  const auto as_batch = [&](const Tensor& x) {
    Dims sizes = batch;
    sizes.push_back(x.size(-2));
    sizes.push_back(x.size(-1));
    return x.expand(sizes).reshape({batch.product(), x.size(-2), x.size(-1)});
  };
  Tensor product = bmm(as_batch(a), as_batch(b));
  Dims sizes = batch;
  if (a_in.dim() > 1) sizes.push_back(product.size(1));
  if (b_in.dim() > 1) sizes.push_back(product.size(2));
  return product.view(sizes);
}

}  // namespace

void check_product_type(const char* op, const Tensor& a) {
  if (is_floating_point(a.dtype())) return;
  throw Error("dtype-mismatch", std::string("\"") + op + "\" not implemented for '" + torch_type_name(a.dtype()) + "'",
              "products are made for floating point types", "convert the operands to f32");
}

void check_mm_shapes(const Tensor& mat1, const Tensor& mat2) {
  if (mat1.size(1) == mat2.size(0)) return;
  throw Error("shape-mismatch",
              "mat1 and mat2 shapes cannot be multiplied (" + shape(mat1) + " and " + shape(mat2) + ")",
              "the columns of the first, " + std::to_string(mat1.size(1)) + ", must be the rows of the second, " +
                  std::to_string(mat2.size(0)),
              "transpose one of them with t(), or check in which order they are multiplied");
}

Tensor mm(const Tensor& a_in, const Tensor& b_in) {
  const auto [a, b] = autocast("mm", a_in, b_in);
  const Device device = strict_device("mm", "wrapper_CUDA_mm", {{"self", &a}, {"mat2", &b}});
  check_dims(a, 2, "self must be a matrix");
  check_dims(b, 2, "mat2 must be a matrix");
  check_mm_shapes(a, b);
  check_mm_types(a, b);
  Tensor out = make_tensor({a.size(0), b.size(1)}, {a.dtype(), device}, "matmul");
  run(Kernel::matmul, {&out, &a, &b});
  graph::record("MmBackward0", out, {&a, &b}, [&, &a = a, &b = b](graph::Saver& save) {
    // A gradient that lies as its operand needs no copy when it arrives there: of a transposed weight, for example.
    return [a_turned = is_by_columns(a.layout()), b_turned = is_by_columns(b.layout()), a = save.if_wanted(1, a),
            b = save.if_wanted(0, b)](const Tensor& dy, graph::Gradients& to) {
      if (to.wanted(0)) to.give(0, a_turned ? mm(b.get(), dy.t()).t() : mm(dy, b.get().t()));
      if (to.wanted(1)) to.give(1, b_turned ? mm(dy.t(), a.get()).t() : mm(a.get().t(), dy));
    };
  });
  return out;
}

Tensor bmm(const Tensor& a_in, const Tensor& b_in) {
  const auto [a, b] = autocast("bmm", a_in, b_in);
  const Device device = strict_device("bmm", "wrapper_CUDA_bmm", {{"self", &a}, {"mat2", &b}});
  check_dims(a, 3, "batch1 must be a 3D tensor");
  check_dims(b, 3, "batch2 must be a 3D tensor");
  if (b.size(0) != a.size(0) || b.size(1) != a.size(2)) {
    throw Error("shape-mismatch",
                "Expected size for first two dimensions of batch2 tensor to be: " + Dims{a.size(0), a.size(2)}.str() +
                    " but got: " + Dims{b.size(0), b.size(1)}.str() + ".",
                "the first has shape " + a.sizes().str() + ", the second " + b.sizes().str() +
                    "; batches are equally many, and columns of the first meet rows of the second",
                "transpose(1, 2) one of them, or check in which order they are multiplied");
  }
  if (a.dtype() != b.dtype()) {
    throw types_differ(
        std::string("expected scalar type ") + torch_type_name(a.dtype()) + " but found " + torch_type_name(b.dtype()),
        a);
  }
  check_product_type("bmm", a);
  Tensor out = make_tensor({a.size(0), a.size(1), b.size(2)}, {a.dtype(), device}, "bmm");
  run(Kernel::bmm, {&out, &a, &b});
  graph::record("BmmBackward0", out, {&a, &b}, [&, &a = a, &b = b](graph::Saver& save) {
    return [a = save.if_wanted(1, a), b = save.if_wanted(0, b)](const Tensor& gradient, graph::Gradients& to) {
      if (to.wanted(0)) to.give(0, bmm(gradient, b.get().transpose(1, 2)));
      if (to.wanted(1)) to.give(1, bmm(a.get().transpose(1, 2), gradient));
    };
  });
  return out;
}

Tensor matmul(const Tensor& a_in, const Tensor& b_in) {
  const auto [a, b] = autocast("matmul", a_in, b_in);
  strict_device("matmul", "wrapper_CUDA_mm", {{"self", &a}, {"mat2", &b}});
  if (a.dim() == 0 || b.dim() == 0) {
    throw Error("shape-mismatch",
                "both arguments to matmul need to be at least 1D, but they are " + std::to_string(a.dim()) + "D and " +
                    std::to_string(b.dim()) + "D",
                "this product is defined for matrices, with vectors as rows or columns",
                "use mul for a product with a single value");
  }
  check_vectors(a, b);
  if (a.dim() > 2 || b.dim() > 2) {
    if (!folds(a, b)) return product_of_batches(a, b);
    if (a.dim() >= b.dim()) return folded(a, b);
    // a [k] or [m, k] by b [*, k, n]: the transposed product, read the other way.
    const Tensor product = folded(b.transpose(-2, -1), a.dim() == 2 ? a.t() : a);
    return a.dim() == 2 ? product.transpose(-2, -1) : product;
  }
  const Tensor product = mm(a.dim() == 1 ? a.unsqueeze(0) : a, b.dim() == 1 ? b.unsqueeze(1) : b);
  if (a.dim() == 2 && b.dim() == 2) return product;
  Dims sizes;
  if (a.dim() == 2) sizes.push_back(product.size(0));
  if (b.dim() == 2) sizes.push_back(product.size(1));
  return product.view(sizes);
}

}  // namespace labrig
