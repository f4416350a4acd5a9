// cat and stack: one new tensor, and each operand copied into its part of it.
#include <string>

#include "labrig/error.hpp"
#include "ops/operands.hpp"

namespace labrig {
namespace {

// PyTorch passes over tensors of shape [0], whatever the shape of the others.
bool is_skipped(const Tensor& tensor) { return tensor.dim() == 1 && tensor.size(0) == 0; }

void check_list(const char* op, const std::vector<Tensor>& tensors) {
  if (!tensors.empty()) return;
  throw Error("shape-mismatch", std::string(op) + " expects a non-empty TensorList",
              "there is nothing that the result could take its shape and type from", "pass at least one tensor");
}

void check_cat_shape(const Tensor& first, const Tensor& tensor, std::size_t i, int dim) {
  if (first.dim() != tensor.dim()) {
    throw Error(
        "shape-mismatch",
        "Tensors must have same number of dimensions: got " + std::to_string(first.dim()) + " and " +
            std::to_string(tensor.dim()),
        "tensor " + std::to_string(i) + " has shape " + tensor.sizes().str() + ", the first " + first.sizes().str(),
        "unsqueeze the smaller one, or use stack for a new dimension");
  }
  for (int d = 0; d < first.dim(); ++d) {
    if (d == dim || first.size(d) == tensor.size(d)) continue;
    throw Error(
        "shape-mismatch",
        "Sizes of tensors must match except in dimension " + std::to_string(dim) + ". Expected size " +
            std::to_string(first.size(d)) + " but got size " + std::to_string(tensor.size(d)) + " for tensor number " +
            std::to_string(i) + " in the list.",
        "tensor " + std::to_string(i) + " has shape " + tensor.sizes().str() + ", the first " + first.sizes().str(),
        "check the dimension along which they are joined");
  }
}

Device device_of_all(const char* op, const std::vector<Tensor>& tensors) {
  NamedOperands operands;
  for (const Tensor& tensor : tensors) operands.push_back({"a tensor", &tensor});
  return common_device(op, operands);
}

}  // namespace

Tensor cat(const std::vector<Tensor>& tensors, int dim) {
  check_list("torch.cat():", tensors);
  const Device device = device_of_all("cat", tensors);
  const Tensor* first = nullptr;
  Dtype dtype = tensors[0].dtype();
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    if (tensors[i].dim() == 0) {
      throw Error("shape-mismatch",
                  "zero-dimensional tensor (at position " + std::to_string(i) + ") cannot be concatenated",
                  "it has no dimension to be joined along", "use stack, which adds one");
    }
    dtype = promote_types(dtype, tensors[i].dtype());
    if (!first && !is_skipped(tensors[i])) first = &tensors[i];
  }
  if (!first) return make_tensor({0}, {dtype, device}, "cat");
  const int d = wrap_dim(dim, first->dim());
  Dims sizes = first->sizes();
  sizes[d] = 0;
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    if (is_skipped(tensors[i])) continue;
    check_cat_shape(*first, tensors[i], i, d);
    sizes[d] += tensors[i].size(d);
  }
  Tensor out = make_tensor(sizes, {dtype, device}, "cat");
  std::int64_t start = 0;
  for (const Tensor& tensor : tensors) {
    if (is_skipped(tensor)) continue;
    copy_values(out.narrow(d, start, tensor.size(d)), tensor, true, trace::Cause::asked);
    start += tensor.size(d);
  }
  return out;
}

Tensor stack(const std::vector<Tensor>& tensors, int dim) {
  check_list("stack", tensors);
  const int d = wrap_dim(dim, tensors[0].dim() + 1);
  std::vector<Tensor> rows;
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    if (!(tensors[i].sizes() == tensors[0].sizes())) {
      throw Error("shape-mismatch",
                  "stack expects each tensor to be equal size, but got " + tensors[0].sizes().str() +
                      " at entry 0 and " + tensors[i].sizes().str() + " at entry " + std::to_string(i),
                  "each becomes one slice of the result, and slices are all alike",
                  "pad or cut the tensors to one shape");
    }
    rows.push_back(tensors[i].unsqueeze(d));
  }
  return cat(rows, d);
}

}  // namespace labrig
