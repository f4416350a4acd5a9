// Layouts and views. Every view is arithmetic on sizes, strides and offset; nothing here touches memory.
#include "labrig/layout.hpp"

#include <algorithm>
#include <limits>
#include <string>

#include "labrig/error.hpp"
#include "tensor/view.hpp"

namespace labrig {
namespace {

std::string text(std::int64_t value) { return std::to_string(value); }

}  // namespace

Layout Layout::contiguous(const Dims& sizes, std::int64_t offset) {
  Layout result{sizes, sizes, offset};
  std::int64_t step = 1;
  for (int d = sizes.count() - 1; d >= 0; --d) {
    result.strides[d] = step;
    // Only a tensor without elements can be that large; its strides are never followed.
    if (__builtin_mul_overflow(step, std::max<std::int64_t>(sizes[d], 1), &step))
      step = std::numeric_limits<std::int64_t>::max();
  }
  return result;
}

bool Layout::is_contiguous() const {
  if (numel() == 0) return true;
  std::int64_t step = 1;
  for (int d = dim() - 1; d >= 0; --d) {
    if (sizes[d] == 1) continue;
    if (strides[d] != step) return false;
    step *= sizes[d];
  }
  return true;
}

std::int64_t Layout::span_elements() const {
  if (numel() == 0) return 0;
  std::int64_t last = 0;
  for (int d = 0; d < dim(); ++d) last += (sizes[d] - 1) * strides[d];
  return last + 1;
}

Layout Layout::narrow(int dim0, std::int64_t start, std::int64_t length) const {
  const int d = wrap_dim(dim0, dim());
  const std::int64_t size = dim() == 0 ? 0 : sizes[d];
  const std::string where = "dimension " + text(d) + " of a tensor of shape " + sizes.str();
  if (start < -size || start > size) {
    throw Error("index-out-of-range",
                "start out of range (expected to be in range of [" + text(-size) + ", " + text(size) + "], but got " +
                    text(start) + ")",
                where + " has " + text(size) + " elements", "start inside the dimension");
  }
  if (start < 0) start += size;
  if (length < 0) {
    throw Error("index-out-of-range", "narrow(): length must be non-negative.",
                "a length of " + text(length) + " was asked of " + where, "pass a length of 0 or more");
  }
  if (length > size - start) {
    throw Error(
        "index-out-of-range",
        "start (" + text(start) + ") + length (" + text(length) + ") exceeds dimension size (" + text(size) + ").",
        where + " ends before that", "shorten the range, for a last batch as min(batch, size - start)");
  }
  Layout result = *this;
  if (dim() == 0) return result;
  result.offset += start * strides[d];
  result.sizes[d] = length;
  return result;
}

Layout Layout::select(int dim0, std::int64_t index) const {
  if (dim() == 0) {
    throw Error("index-out-of-range", "select() cannot be applied to a 0-dim tensor.",
                "a tensor without dimensions holds one value and has nothing to choose from", "use item()");
  }
  const int d = wrap_dim(dim0, dim());
  if (index < -sizes[d] || index >= sizes[d]) {
    throw Error("index-out-of-range",
                "index " + text(index) + " is out of bounds for dimension " + text(d) + " with size " + text(sizes[d]),
                "indices of a tensor of shape " + sizes.str() + " run there from 0 to " + text(sizes[d] - 1),
                "check the loop bound: the last index is size - 1");
  }
  Layout result;
  result.offset = offset + (index < 0 ? index + sizes[d] : index) * strides[d];
  for (int i = 0; i < dim(); ++i) {
    if (i == d) continue;
    result.sizes.push_back(sizes[i]);
    result.strides.push_back(strides[i]);
  }
  return result;
}

// Bounds are clamped, as Python's slices are.
Layout Layout::slice(int dim0, std::int64_t start, std::int64_t end, std::int64_t step) const {
  if (dim() == 0) {
    throw Error("index-out-of-range", "slice() cannot be applied to a 0-dim tensor.",
                "a tensor without dimensions holds one value and has no range of them", "use item()");
  }
  if (step <= 0) {
    throw Error("index-out-of-range", "slice step must be positive", "a step of " + text(step) + " was given",
                "use a step of 1 or more");
  }
  const int d = wrap_dim(dim0, dim());
  const std::int64_t size = sizes[d];
  start = std::clamp<std::int64_t>(start < 0 ? start + size : start, 0, size);
  end = std::clamp<std::int64_t>(end < 0 ? end + size : end, start, size);
  Layout result = *this;
  result.offset += start * strides[d];
  result.sizes[d] = (end - start) / step + ((end - start) % step != 0);
  if (result.sizes[d] > 1) result.strides[d] *= step;
  return result;
}

Layout Layout::transpose(int dim0, int dim1) const {
  const int a = wrap_dim(dim0, dim()), b = wrap_dim(dim1, dim());
  Layout result = *this;
  std::swap(result.sizes[a], result.sizes[b]);
  std::swap(result.strides[a], result.strides[b]);
  return result;
}

Layout Layout::permute(const Dims& order) const {
  if (order.count() != dim()) {
    throw Error("shape-mismatch",
                "permute(): number of dimensions in the tensor input does not match the length of the desired ordering "
                "of dimensions i.e. input.dim() = " +
                    text(dim()) + " is not equal to len(dims) = " + text(order.count()),
                "the order names each dimension once", "list all " + text(dim()) + " dimensions");
  }
  Layout result = *this;
  unsigned seen = 0;
  for (int i = 0; i < dim(); ++i) {
    const int d = wrap_dim(static_cast<int>(order[i]), dim());
    if (seen & (1u << d)) {
      throw Error("shape-mismatch", "permute(): duplicate dims are not allowed.",
                  "dimension " + text(d) + " stands twice in " + order.str(), "name each dimension once");
    }
    seen |= 1u << d;
    result.sizes[i] = sizes[d];
    result.strides[i] = strides[d];
  }
  return result;
}

Layout Layout::unsqueeze(int dim0) const {
  const int d = wrap_dim(dim0, dim() + 1);
  Layout result;
  result.offset = offset;
  for (int i = 0; i <= dim(); ++i) {
    if (i == d) {
      result.sizes.push_back(1);
      result.strides.push_back(i < dim() ? sizes[i] * strides[i] : 1);
    }
    if (i == dim()) break;
    result.sizes.push_back(sizes[i]);
    result.strides.push_back(strides[i]);
  }
  return result;
}

Layout Layout::squeeze(int dim0) const {
  const int d = wrap_dim(dim0, dim());
  return dim() == 0 || sizes[d] != 1 ? *this : select(d, 0);
}

Layout Layout::expand(const Dims& target) const {
  const int added = target.count() - dim();
  if (added < 0) {
    throw Error("shape-mismatch",
                "expand: the number of sizes provided (" + text(target.count()) +
                    ") must be greater or equal to the number of dimensions in the tensor (" + text(dim()) + ")",
                "expanding repeats a tensor along dimensions of size 1 or new ones on the left; it drops none",
                "select or squeeze the dimension away first");
  }
  Layout result{target, target, offset};
  for (int i = 0; i < target.count(); ++i) {
    const int d = i - added;
    if (d < 0 && target[i] < 0) {
      throw Error("shape-mismatch",
                  "The expanded size of the tensor (" + text(target[i]) +
                      ") isn't allowed in a leading, non-existing dimension " + text(i),
                  "-1 keeps the size of a dimension that is there", "give the new dimension its size");
    }
    const std::int64_t size = d < 0 ? 1 : sizes[d];
    if (target[i] == -1) result.sizes[i] = size;
    if (result.sizes[i] < 0) {
      throw Error("shape-mismatch",
                  "Trying to create tensor with negative dimension " + text(target[i]) + ": " + target.str(),
                  "a size counts elements; only -1 has a meaning, which is to keep the size that is there",
                  "correct the shape");
    }
    if (result.sizes[i] != size && size != 1) {
      throw Error("shape-mismatch",
                  "The expanded size of the tensor (" + text(target[i]) + ") must match the existing size (" +
                      text(size) + ") at non-singleton dimension " + text(i) + ".  Target sizes: " + target.str() +
                      ".  Tensor sizes: " + sizes.str(),
                  "only a dimension of size 1 can be repeated", "make that size 1 or " + text(target[i]));
    }
    result.strides[i] = result.sizes[i] == size && d >= 0 ? strides[d] : 0;
  }
  return result;
}

Dims infer_sizes(const Dims& sizes, std::int64_t numel) {
  int unknown = -1;
  Dims known = sizes;
  for (int d = 0; d < sizes.count(); ++d) {
    if (sizes[d] >= 0) continue;
    if (sizes[d] != -1 || unknown >= 0) {
      throw Error("invalid-shape",
                  sizes[d] == -1 ? "only one dimension can be inferred" : "invalid shape dimension " + text(sizes[d]),
                  "the shape is " + sizes.str() + "; a single -1 in it stands for what is left over",
                  "write the other sizes out");
    }
    unknown = d;
    known[d] = 1;
  }
  const std::int64_t product = known.product();
  const bool fits = unknown < 0 ? product == numel : product != 0 && numel % product == 0;
  if (!fits) {
    throw Error("invalid-shape", "shape '" + sizes.str() + "' is invalid for input of size " + text(numel),
                "a view shows every element once, so the sizes must multiply to " + text(numel),
                "correct the sizes, or put -1 for the one that follows from the others");
  }
  if (unknown >= 0) known[unknown] = numel / product;
  return known;
}

// Dimensions that lie behind one another without a gap form a chunk; the new sizes must cut each chunk cleanly:
//   sizes [2, 3, 4] strides [24, 4, 1]: chunks [2] and [3 * 4], so [2, 12] and [2, 2, 6] are views and [6, 4] is not.
std::optional<Layout> try_view(const Layout& layout, const Dims& sizes) {
  Layout result{sizes, sizes, layout.offset};
  if (layout.numel() == 0 || layout.dim() == 0) return Layout::contiguous(sizes, layout.offset);
  int next = sizes.count() - 1;
  std::int64_t step = layout.strides[layout.dim() - 1], chunk = 1, covered = 1;
  for (int d = layout.dim() - 1; d >= 0; --d) {
    chunk *= layout.sizes[d];
    const bool ends = d == 0 || (layout.sizes[d - 1] != 1 && layout.strides[d - 1] != chunk * step);
    if (!ends) continue;
    while (next >= 0 && (covered < chunk || sizes[next] == 1)) {
      result.strides[next] = covered * step;
      covered *= sizes[next--];
    }
    if (covered != chunk) return std::nullopt;
    if (d > 0) step = layout.strides[d - 1];
    chunk = covered = 1;
  }
  if (next >= 0) return std::nullopt;
  return result;
}

Layout Layout::view(const Dims& target) const {
  if (auto result = try_view(*this, infer_sizes(target, numel()))) return *result;
  throw Error(
      "view-size-incompatible",
      "view size is not compatible with input tensor's size and stride (at least one dimension spans across two "
      "contiguous subspaces). Use .reshape(...) instead.",
      "with sizes " + sizes.str() + " and strides " + strides.str() +
          " the elements do not lie in the order that a view of shape " + target.str() + " needs",
      "use reshape, which copies when it must, or contiguous() before view");
}

}  // namespace labrig
