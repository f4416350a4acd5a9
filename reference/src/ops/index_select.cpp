// index_select and embedding: rows picked by one tensor of indices. The kernel picks along leading dimensions; another
// dimension is brought to the front by a view.
#include <string>

#include "graph/node.hpp"
#include "labrig/autograd.hpp"
#include "labrig/error.hpp"
#include "ops/indexing.hpp"
#include "ops/operands.hpp"
#include "ops/plain/kernels.hpp"
#include "tensor/names.hpp"

namespace labrig {
namespace {

Tensor to_front(const Tensor& x, int dim) {
  if (dim == 0) return x;
  Dims order{dim};
  for (int d = 0; d < x.dim(); ++d) {
    if (d != dim) order.push_back(d);
  }
  return x.permute(order);
}

void run_kernel(Kernel kernel, const Tensor& first, const Tensor& second, std::span<const Tensor> indices,
                Negative negative) {
  const Tensor none;
  const auto at = [&](std::size_t i) { return i < indices.size() ? &indices[i] : &none; };
  run(kernel, {&first, &second, at(0), at(1), at(2), at(3)}, {negative == Negative::refused ? 1u : 0u});
}

// On the host an index out of range is found at once.
void pick_rows(const Tensor& out, const Tensor& x, const Tensor& index, int dim) {
  try {
    pick(out, x, {&index, 1}, Negative::refused, dim);
  } catch (const kernels::BadIndex& bad) {
    throw Error("index-out-of-range", "index out of range in self",
                "index number " + std::to_string(bad.position) + " is " + std::to_string(bad.value) +
                    ", and allowed are 0 to " + std::to_string(bad.size - 1),
                "check what made the indices; for words, that the table has as many rows as the vocabulary");
  }
}

void check_index(const Tensor& x, const Tensor& index) {
  if (index.dtype() != kI64 && index.dtype() != kI32) {
    throw Error("dtype-mismatch", "index_select(): Expected dtype int32 or int64 for index",
                std::string("the index has elements of type ") + name_of(index.dtype()), "convert it with .to(kI64)");
  }
  if (index.dim() > 1) {
    throw Error("shape-mismatch", "index_select(): Index is supposed to be a vector",
                "it has shape " + index.sizes().str() + ", and what is picked takes the place of one dimension",
                "flatten() it, or use index for indices of any shape");
  }
  if (x.dim() == 0) {
    throw Error("shape-mismatch", "index_select(): the tensor has no dimensions",
                "there is one value and nothing to choose", "use the tensor as it is");
  }
}

void check_table(const Tensor& ids, const Tensor& weight, std::int64_t padding_idx) {
  if (ids.dtype() != kI64 && ids.dtype() != kI32) {
    throw Error("dtype-mismatch",
                "Expected tensor for argument #1 'indices' to have one of the following scalar types: Long, Int; but "
                "got " +
                    torch_tensor_name(ids) + " instead (while checking arguments for embedding)",
                "an id is the number of a row, and there is no row 0.5", "convert the ids with .to(kI64)");
  }
  if (weight.dim() != 2) {
    throw Error("shape-mismatch", "'weight' must be 2-D",
                "it has shape " + weight.sizes().str() + ", and a table has one row an id",
                "make the weight of shape [ids, width]");
  }
  if (padding_idx < -1 || padding_idx >= weight.size(0)) {
    throw Error("index-out-of-range", "Padding_idx must be within num_embeddings",
                "padding_idx is " + std::to_string(padding_idx) + ", and the table has " +
                    std::to_string(weight.size(0)) + " rows",
                "use the number of a row, or -1 for none");
  }
}

}  // namespace

void pick(const Tensor& out, const Tensor& x, std::span<const Tensor> indices, Negative negative, int dim) {
  const NoGradGuard guard;
  run_kernel(Kernel::index, to_front(out, dim), to_front(x, dim), indices, negative);
}

Tensor put_back(const Dims& sizes, const Tensor& gradient, std::span<const Tensor> indices, Negative negative,
                int dim) {
  const Tensor sums = zeros(sizes, {gradient.dtype(), gradient.device()});
  if (gradient.numel() > 0) {
    run_kernel(Kernel::index_add, to_front(sums, dim), to_front(gradient, dim), indices, negative);
  }
  return sums;
}

Tensor index_select(const Tensor& x, int dim, const Tensor& index) {
  const Device device = strict_device("index_select", "wrapper_CUDA__index_select", {{"self", &x}, {"index", &index}});
  check_index(x, index);
  const int d = wrap_dim(dim, x.dim());
  const Tensor ids = index.to(kI64).reshape({-1});
  Dims sizes = x.sizes();
  sizes[d] = ids.numel();
  Tensor out = make_tensor(sizes, {x.dtype(), device}, "index_select");
  pick_rows(out, x, ids, d);
  graph::record("IndexSelectBackward0", out, {&x}, [&](graph::Saver& save) {
    return [x_sizes = x.sizes(), d, index = save(index)](const Tensor& gradient, graph::Gradients& to) {
      const Tensor at = index.get().to(kI64).reshape({-1});
      to.give(0, put_back(x_sizes, gradient, {&at, 1}, Negative::refused, d));
    };
  });
  return out;
}

Tensor embedding(const Tensor& ids, const Tensor& weight, std::int64_t padding_idx) {
  require("embedding", {"indices", &ids});
  require("embedding", {"weight", &weight});
  check_table(ids, weight, padding_idx);
  const Device device = strict_device("embedding", "wrapper_CUDA__index_select", {{"self", &weight}, {"index", &ids}});
  Dims sizes = ids.sizes();
  sizes.push_back(weight.size(1));
  Tensor out = make_tensor(sizes, {weight.dtype(), device}, "embedding");
  pick_rows(out, weight, ids.to(kI64), 0);
  graph::record("EmbeddingBackward0", out, {&weight}, [&](graph::Saver& save) {
    return [table = weight.sizes(), padding_idx, ids = save(ids)](const Tensor& gradient, graph::Gradients& to) {
      const Tensor at = ids.get().to(kI64);
      const Tensor sums = put_back(table, gradient, {&at, 1}, Negative::refused);
      if (padding_idx >= 0) sums.select(0, padding_idx).zero_();
      to.give(0, sums);
    };
  });
  return out;
}

}  // namespace labrig
