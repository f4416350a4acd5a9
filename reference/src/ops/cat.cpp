// cat and stack: one new tensor, and each operand copied into its part of it. The gradient of an operand is that part.
#include <string>

#include "graph/node.hpp"
#include "labrig/autograd.hpp"
#include "labrig/error.hpp"
#include "ops/autocast.hpp"
#include "ops/operands.hpp"

namespace labrig {
namespace {

// PyTorch passes over tensors of shape [0], whatever the shape of the others.
bool is_skipped(const Tensor& tensor) { return tensor.dim() == 1 && tensor.size(0) == 0; }

void check_list(const char* text, const std::vector<Tensor>& tensors) {
  if (!tensors.empty()) return;
  throw Error("shape-mismatch", text, "there is nothing that the result could take its shape and type from",
              "pass at least one tensor");
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
  std::vector<std::string> roles;
  for (std::size_t i = 0; i < tensors.size(); ++i) roles.push_back("tensors[" + std::to_string(i) + "]");
  NamedOperands operands;
  for (std::size_t i = 0; i < tensors.size(); ++i) operands.push_back({roles[i].c_str(), &tensors[i]});
  return common_device(op, operands);
}

// Joined along an existing dimension, for which the shape of `first` is the rule.
Tensor joined(const std::vector<Tensor>& tensors, const Tensor& first, int dim, Options options) {
  Dims sizes = first.sizes();
  sizes[dim] = 0;
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    if (is_skipped(tensors[i])) continue;
    check_cat_shape(first, tensors[i], i, dim);
    sizes[dim] += tensors[i].size(dim);
  }
  const NoGradGuard guard;
  Tensor out = make_tensor(sizes, options, "cat");
  std::int64_t start = 0;
  for (const Tensor& tensor : tensors) {
    if (is_skipped(tensor)) continue;
    copy_values(out.narrow(dim, start, tensor.size(dim)), tensor, true, trace::Cause::asked);
    start += tensor.size(dim);
  }
  return out;
}

std::vector<const Tensor*> pointers(const std::vector<Tensor>& tensors) {
  std::vector<const Tensor*> result;
  for (const Tensor& tensor : tensors) result.push_back(&tensor);
  return result;
}

struct Part {
  std::int64_t length;
  Dtype dtype;
  bool skipped;
};

// The gradient of each part is a piece of the gradient, in the part's own type.
void record_cat(const Tensor& out, const std::vector<Tensor>& tensors, int dim) {
  graph::record("CatBackward0", out, pointers(tensors), [&](graph::Saver&) {
    std::vector<Part> parts;
    for (const Tensor& x : tensors) parts.push_back({is_skipped(x) ? 0 : x.size(dim), x.dtype(), is_skipped(x)});
    return [parts = std::move(parts), dim](const Tensor& gradient, graph::Gradients& to) {
      std::int64_t start = 0;
      for (std::size_t i = 0; i < parts.size(); ++i) {
        const auto [length, dtype, skipped] = parts[i];
        const int input = static_cast<int>(i);
        if (to.wanted(input)) {
          to.give(input,
                  skipped ? zeros({0}, {dtype, gradient.device()}) : gradient.narrow(dim, start, length).to(dtype));
        }
        start += length;
      }
    };
  });
}

void record_stack(const Tensor& out, const std::vector<Tensor>& tensors, int dim) {
  graph::record("StackBackward0", out, pointers(tensors), [&](graph::Saver&) {
    std::vector<Dtype> dtypes;
    for (const Tensor& x : tensors) dtypes.push_back(x.dtype());
    return [dtypes = std::move(dtypes), dim](const Tensor& gradient, graph::Gradients& to) {
      for (std::size_t i = 0; i < dtypes.size(); ++i) {
        const int input = static_cast<int>(i);
        if (to.wanted(input)) to.give(input, gradient.select(dim, input).to(dtypes[i]));
      }
    };
  });
}

Dtype common_type(const std::vector<Tensor>& tensors) {
  Dtype dtype = tensors[0].dtype();
  for (const Tensor& tensor : tensors) dtype = promote_types(dtype, tensor.dtype());
  return dtype;
}

}  // namespace

Tensor cat(const std::vector<Tensor>& tensors_in, int dim) {
  check_list("torch.cat(): expected a non-empty list of Tensors", tensors_in);
  const std::vector<Tensor> tensors = autocast("cat", tensors_in);
  const Device device = device_of_all("cat", tensors);
  const Tensor* first = nullptr;
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    if (tensors[i].dim() == 0) {
      throw Error("shape-mismatch",
                  "zero-dimensional tensor (at position " + std::to_string(i) + ") cannot be concatenated",
                  "it has no dimension to be joined along", "use stack, which adds one");
    }
    if (!first && !is_skipped(tensors[i])) first = &tensors[i];
  }
  if (!first) first = &tensors[0];
  const int d = wrap_dim(dim, first->dim());
  Tensor out = joined(tensors, *first, d, {common_type(tensors), device});
  record_cat(out, tensors, d);
  return out;
}

Tensor stack(const std::vector<Tensor>& tensors_in, int dim) {
  check_list("stack expects a non-empty TensorList", tensors_in);
  const std::vector<Tensor> tensors = autocast("stack", tensors_in);
  const Device device = device_of_all("stack", tensors);
  const int d = wrap_dim(dim, tensors[0].dim() + 1);
  std::vector<Tensor> slices;
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    if (!(tensors[i].sizes() == tensors[0].sizes())) {
      throw Error("shape-mismatch",
                  "stack expects each tensor to be equal size, but got " + tensors[0].sizes().str() +
                      " at entry 0 and " + tensors[i].sizes().str() + " at entry " + std::to_string(i),
                  "each becomes one slice of the result, and slices are all alike",
                  "pad or cut the tensors to one shape");
    }
    slices.push_back(tensors[i].detach().unsqueeze(d));
  }
  Tensor out = joined(slices, slices[0], d, {common_type(tensors), device});
  record_stack(out, tensors, d);
  return out;
}

}  // namespace labrig
