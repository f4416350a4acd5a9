// Views: another layout over the same memory, and how a gradient finds its way back through it. Most views show every
// element once, so the way back is the opposite view of the gradient and costs nothing; a part of a tensor gets a
// gradient of zeros with the part put in its place.
#include <functional>

#include "graph/meta.hpp"
#include "graph/node.hpp"
#include "labrig/error.hpp"
#include "labrig/ops.hpp"
#include "tensor/impl.hpp"
#include "tensor/view.hpp"

namespace labrig {
namespace {

using trace::Cause;

// `back` makes the gradient of x out of that of the view.
template <class Back>
Tensor viewed(const Tensor& x, const Layout& layout, const char* function, const char* node, Back back) {
  const Tensor out = with_origin(alias(x, layout), Origin::view_of(x.name(), function));
  graph::note_view(out, x);
  graph::record(node, out, {&x}, [&](graph::Saver&) {
    return [back = std::move(back)](const Tensor& gradient, graph::Gradients& to) { to.give(0, back(gradient)); };
  });
  return out;
}

// `part` is the view that chose a part.
template <class Part>
Tensor part_of(const Tensor& x, const char* function, const char* node, Part part) {
  return viewed(x, part(x.layout()), function, node, [part, sizes = x.sizes()](const Tensor& gradient) {
    const Tensor whole = zeros(sizes, {gradient.dtype(), gradient.device()});
    copy_values(alias(whole, part(whole.layout())), gradient, true, Cause::asked);
    return whole;
  });
}

Tensor swapped(const Tensor& x, int dim0, int dim1, const char* function, const char* node) {
  return viewed(x, x.layout().transpose(dim0, dim1), function, node,
                [dim0, dim1](const Tensor& gradient) { return gradient.transpose(dim0, dim1); });
}

// Where dimension `dim` of 1 is put back, or taken away.
Tensor reshaped(const Tensor& x, const Layout& layout, const char* function, const char* node) {
  return viewed(x, layout, function, node,
                [sizes = x.sizes()](const Tensor& gradient) { return gradient.reshape(sizes); });
}

}  // namespace

Tensor Tensor::view(const Dims& sizes) const { return reshaped(*this, layout().view(sizes), "view", "ViewBackward0"); }

Tensor Tensor::reshape(const Dims& sizes) const {
  const Dims known = infer_sizes(sizes, numel());
  if (const auto as_view = try_view(layout(), known)) return reshaped(*this, *as_view, "reshape", "ViewBackward0");
  const Tensor copy = contiguous_copy(*this, dtype(), Cause::hidden);
  const Tensor out = with_origin(alias(copy, Layout::contiguous(known)), Origin::copy_of(name(), device(), "reshape"));
  graph::record("UnsafeViewBackward0", out, {this}, [&](graph::Saver&) {
    return [before = this->sizes()](const Tensor& gradient, graph::Gradients& to) {
      to.give(0, gradient.reshape(before));
    };
  });
  return out;
}

Tensor Tensor::narrow(int dim, std::int64_t start, std::int64_t length) const {
  return part_of(*this, "narrow", "SliceBackward0", [=](const Layout& all) { return all.narrow(dim, start, length); });
}

Tensor Tensor::select(int dim, std::int64_t index) const {
  return part_of(*this, "select", "SelectBackward0", [=](const Layout& all) { return all.select(dim, index); });
}

Tensor Tensor::slice(int dim, std::int64_t start, std::int64_t end, std::int64_t step) const {
  return part_of(*this, "slice", "SliceBackward0", [=](const Layout& all) { return all.slice(dim, start, end, step); });
}

Tensor Tensor::transpose(int dim0, int dim1) const {
  return swapped(*this, dim0, dim1, "transpose", "TransposeBackward0");
}

Tensor Tensor::t() const {
  if (dim() > 2) {
    throw Error("shape-mismatch",
                "t() expects a tensor with <= 2 dimensions, but self is " + std::to_string(dim()) + "D",
                "t() swaps rows and columns of a matrix", "name the two dimensions: transpose(-2, -1)");
  }
  return swapped(*this, 0, dim() < 2 ? 0 : 1, "t", "TBackward0");
}

Tensor Tensor::permute(const Dims& order) const {
  const Layout layout_ = layout().permute(order);
  Dims back = order;
  for (int i = 0; i < order.count(); ++i) back[wrap_dim(static_cast<int>(order[i]), dim())] = i;
  return viewed(*this, layout_, "permute", "PermuteBackward0",
                [back](const Tensor& gradient) { return gradient.permute(back); });
}

Tensor Tensor::unsqueeze(int dim_) const {
  return reshaped(*this, layout().unsqueeze(dim_), "unsqueeze", "UnsqueezeBackward0");
}

Tensor Tensor::squeeze(int dim_) const {
  return reshaped(*this, layout().squeeze(dim_), "squeeze", "SqueezeBackward1");
}

Tensor Tensor::expand(const Dims& sizes) const {
  return viewed(*this, layout().expand(sizes), "expand", "ExpandBackward0",
                [before = this->sizes()](const Tensor& gradient) { return sum_to_size(gradient, before); });
}

Tensor Tensor::detach() const { return alias(*this, layout()); }

}  // namespace labrig
