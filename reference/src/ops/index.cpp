// Picking elements by tensors of indices, one for each leading dimension, or by masks. The gradient adds what comes
// back to where it was picked from, in the order of the indices.
//
//   x [5, 4, 3] indexed by [2] and [2]  ->  [2, 3]     a mask [5, 4] with n true elements  ->  two tensors of n indices
//
// An index out of range is found by the kernel. On the host its error is PyTorch's; a card finds it later, and stops.
#include <string>

#include "graph/node.hpp"
#include "labrig/error.hpp"
#include "ops/indexing.hpp"
#include "ops/operands.hpp"
#include "ops/plain/kernels.hpp"
#include "tensor/view.hpp"

namespace labrig {
namespace {

constexpr std::size_t kMaxIndices = 4;  // of the kernel

Error too_many(const Tensor& x, std::size_t count) {
  if (count > static_cast<std::size_t>(x.dim())) {
    return Error("shape-mismatch", "too many indices for tensor of dimension " + std::to_string(x.dim()),
                 std::to_string(count) + " indices were given, and each takes one dimension of " + x.sizes().str(),
                 "leave some out: an index covers a leading dimension, the rest is taken whole");
  }
  return Error("shape-mismatch", "index takes at most 4 indices, not " + std::to_string(count),
               "the kernel has room for four", "flatten() the leading dimensions, and index those by one number");
}

void check_place(const Tensor& x, const Tensor& index) {
  require("index", {"an index", &index});
  const Dtype dtype = index.dtype();
  if (is_floating_point(dtype)) {
    throw Error("dtype-mismatch", "tensors used as indices must be long, int, byte or bool tensors",
                std::string("this one has elements of type ") + name_of(dtype) + ", and there is no element number 0.5",
                "convert it with .to(kI64)");
  }
  if (index.device().is_cpu() || index.device() == x.device()) return;
  throw Error(
      "device-mismatch",
      "indices should be either on cpu or on the same device as the indexed tensor (" + x.device().str() + ")",
      "index takes indices on the CPU or beside x: " + described({"x", &x}) + "; " + described({"an index", &index}),
      x.device().is_cpu() ? "make x on " + index.device().str() +
                                ", or move it there once; fetching the index waits for the card every time"
                          : "move the index to " + x.device().str());
}

// A mask takes as many dimensions of x as it has, from `dim` on, and must have their sizes.
void check_mask(const Tensor& x, const Tensor& mask, int dim) {
  if (mask.dim() == 0) {
    throw Error("shape-mismatch", "a mask needs at least one dimension", "this one is a single value",
                "use where(), or read the value with item()");
  }
  if (dim + mask.dim() > x.dim()) throw too_many(x, static_cast<std::size_t>(dim + mask.dim()));
  for (int d = 0; d < mask.dim(); ++d) {
    if (mask.size(d) == x.size(dim + d)) continue;
    throw Error("shape-mismatch",
                "The shape of the mask " + mask.sizes().str() + " at index " + std::to_string(d) +
                    " does not match the shape of the indexed tensor " + x.sizes().str() + " at index " +
                    std::to_string(dim + d),
                "a mask says for each element whether it is taken", "make the mask by comparing the tensor itself");
  }
}

// The positions of the true elements, one tensor of indices for each dimension, on the host. Reads the mask there.
std::vector<Tensor> true_positions(const Tensor& mask) {
  Tensor host = mask;
  if (!mask.device().is_cpu()) {
    host = make_tensor(mask.sizes(), {mask.dtype(), Device{}}, mask.name());
    copy_values(host, mask, false, trace::Cause::value);
  }
  const Tensor dense = host.to(kU8).contiguous();
  std::vector<std::vector<std::int64_t>> found(static_cast<std::size_t>(mask.dim()));
  const auto values = dense.data<const std::uint8_t>();
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (values[i] == 0) continue;
    auto rest = static_cast<std::int64_t>(i);
    for (int d = mask.dim() - 1; d >= 0; --d) {
      found[static_cast<std::size_t>(d)].push_back(rest % mask.size(d));
      rest /= mask.size(d);
    }
  }
  std::vector<Tensor> positions;
  for (const auto& indices : found) positions.push_back(tensor<std::int64_t>(indices));
  return positions;
}

// As the kernel wants them: i64, on the device of x, each for one dimension.
std::vector<Tensor> ready_indices(const Tensor& x, const std::vector<Tensor>& indices) {
  std::vector<Tensor> ready;
  for (const Tensor& index : indices) {
    check_place(x, index);
    const bool is_mask = index.dtype() == kBool || index.dtype() == kU8;  // PyTorch takes bytes as a mask, too
    if (!is_mask) {
      ready.push_back(index);
      continue;
    }
    check_mask(x, index, static_cast<int>(ready.size()));
    for (Tensor& positions : true_positions(index)) ready.push_back(std::move(positions));
  }
  if (ready.size() > static_cast<std::size_t>(x.dim()) || ready.size() > kMaxIndices) throw too_many(x, ready.size());
  for (Tensor& index : ready) index = index.to(kI64).to(x.device());
  return ready;
}

Dims common_sizes(const std::vector<Tensor>& indices) {
  try {
    Dims sizes;
    for (const Tensor& index : indices) sizes = broadcast_sizes(sizes, index.sizes());
    return sizes;
  } catch (const Error& error) {
    std::string shapes;
    for (const Tensor& index : indices) shapes += (shapes.empty() ? "" : ", ") + index.sizes().str();
    throw Error("shape-mismatch",
                "shape mismatch: indexing tensors could not be broadcast together with shapes " + shapes, error.why(),
                error.fix());
  }
}

std::vector<Tensor> broadcast(const std::vector<Tensor>& indices) {
  const Dims sizes = common_sizes(indices);
  std::vector<Tensor> result;
  for (const Tensor& index : indices) result.push_back(index.sizes() == sizes ? index : index.expand(sizes));
  return result;
}

// On the host an index out of range is found at once; where a dimension is empty, on every device.
void pick_checked(const Tensor& out, const Tensor& x, const std::vector<Tensor>& indices) {
  for (std::size_t i = 0; i < indices.size(); ++i) {
    if (x.size(static_cast<int>(i)) > 0 || indices[i].numel() == 0) continue;
    throw Error("index-out-of-range", "index is out of bounds for dimension with size 0",
                "dimension " + std::to_string(i) + " of " + x.sizes().str() + " has nothing to pick",
                "check that the tensor was filled");
  }
  try {
    pick(out, x, indices, Negative::from_end);
  } catch (const kernels::BadIndex& bad) {
    const int dim = bad.operand - 2;
    const std::string size = std::to_string(bad.size);
    throw Error("index-out-of-range",
                "index " + std::to_string(bad.value) + " is out of bounds for dimension " + std::to_string(dim) +
                    " with size " + size,
                "it is number " + std::to_string(bad.position) + " of the indices; allowed are -" + size + " to " +
                    std::to_string(bad.size - 1),
                "check what made the indices");
  }
}

}  // namespace

Tensor index(const Tensor& x, const std::vector<Tensor>& indices) {
  require("index", {"x", &x});
  if (indices.empty()) {
    throw Error("shape-mismatch", "index needs at least one tensor of indices", "the list of indices is empty",
                "pass one tensor of indices for each leading dimension that is picked from");
  }
  const std::vector<Tensor> ready = broadcast(ready_indices(x, indices));
  Dims sizes = ready[0].sizes();
  for (int d = static_cast<int>(ready.size()); d < x.dim(); ++d) sizes.push_back(x.size(d));
  Tensor out = make_tensor(sizes, {x.dtype(), x.device()}, "index");
  pick_checked(out, x, ready);
  graph::record("IndexBackward0", out, {&x}, [&](graph::Saver& save) {
    std::vector<graph::SavedTensor> saved;
    for (const Tensor& one : ready) saved.push_back(save(one));
    return [x_sizes = x.sizes(), saved = std::move(saved)](const Tensor& gradient, graph::Gradients& to) {
      std::vector<Tensor> at;
      for (const graph::SavedTensor& one : saved) at.push_back(one.get());
      to.give(0, put_back(x_sizes, gradient, at, Negative::from_end));
    };
  });
  return out;
}

}  // namespace labrig
